#!/usr/bin/env bash
# The demo of a service: operators fill the vault of a web shop, which refuses to start until all secrets are
# there, follows its settings while it runs, and refuses all data when its key is gone. Then the demo of a
# command-line tool: it keeps tokens and settings, and one bit of a settings file is flipped. Runs in the
# private environment that scripts/private-env.sh creates.
set -euo pipefail
cd "$(dirname "$0")"

read -r -a flags <<<"${SWIFT_FLAGS:-}"
bin=$(swift build "${flags[@]}" --show-bin-path)
securestore=$(SPS_TOOL=1 swift build --package-path .. "${flags[@]}" --show-bin-path)/securestore
app=(--app org.example.webshop)
work=$(mktemp -d)
server=
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
step() { printf '\n== %s\n' "$1"; }
fails() {
  if "$@" >"$work/said" 2>&1; then
    echo "this did not fail: $*" >&2
    exit 1
  fi
  sed 's/^/  /' "$work/said"
}

step "The service does not start without its vault, nor without one of its secrets"
fails "$bin/Webshop" check
"$securestore" init "${app[@]}"
names='DATABASE_URL|SESSION_SECRET|JWT_SIGNING_KEY|STRIPE_SECRET_KEY|STRIPE_WEBHOOK_SECRET|SMTP_USERNAME'
names+='|S3_ACCESS_KEY_ID|S3_SECRET_ACCESS_KEY|SENTRY_DSN'
grep -E "^($names)=" webshop.env >"$work/most.env"
"$securestore" import "${app[@]}" "$work/most.env"
fails "$bin/Webshop" check

step "The operator stores the last secret and the settings, and the service starts"
sed -n 's/^SMTP_PASSWORD=//p' webshop.env | "$securestore" set "${app[@]}" SMTP_PASSWORD
"$securestore" import "${app[@]}" webshop.json
"$bin/Webshop" check 2>"$work/said"
# Nothing on standard error: each setting was read as its property's type.
[[ ! -s $work/said ]] || { cat "$work/said" >&2; exit 1; }

step "The operator changes the log level while the service runs"
"$bin/Webshop" serve 1 >"$work/served" &
server=$!
until grep -q 'log level info, port' "$work/served"; do
  kill -0 "$server"
  sleep 0.05
done
printf debug | "$securestore" set "${app[@]}" --quiet log.level
wait "$server"
cat "$work/served"

step "The key file is moved away: the service refuses to start, and no new key is created"
key=$XDG_DATA_HOME/org.example.webshop/master.key
mv "$key" "$work/master.key"
fails "$bin/Webshop" check
[[ ! -e $key ]]
mv "$work/master.key" "$key"
"$bin/Webshop" check >"$work/said"

step "A tool signs in: the token comes from standard input, and the next command knows it"
echo gho_5f1c8e2a77 | "$bin/Forge" auth login code.example.org ada
"$bin/Forge" config set git_protocol ssh
"$bin/Forge" config set pager_width 120
"$bin/Forge" auth status
"$bin/Forge" clone code.example.org me/app

step "What another program sees of it: no name, no value"
files=("$XDG_CONFIG_HOME/org.example.forge.secure.plist" "$XDG_DATA_HOME/org.example.forge")
ls -l "${files[@]}" | sed 's/^/  /'
for text in gho_5f1c8e2a77 code.example.org git_protocol pager_width; do
  if grep -rqF -- "$text" "${files[@]}"; then
    echo "the files show $text" >&2
    exit 1
  fi
done

step "Somebody flips one bit of one setting: it is refused, and the others can be read"
python3 - "${files[0]}" <<'PYTHON'
import plistlib, sys

data = bytearray(open(sys.argv[1], "rb").read())
entries = plistlib.loads(bytes(data))
value = min((key, value) for key, value in entries.items() if len(key) == 128)[1]
data[data.index(value) + len(value) - 1] ^= 1
open(sys.argv[1], "wb").write(bytes(data))
PYTHON
fails "$bin/Forge" config list
"$bin/Forge" auth status
