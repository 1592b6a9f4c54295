#!/usr/bin/env bash
# The demo of the keyring, in a desktop session of its own with a real gnome-keyring-daemon: the shop's program
# keeps a password that other programs see only sealed, reads a token that another program stored, and meets
# a locked keyring. Runs in the private environment of scripts/private-env.sh.
set -euo pipefail
cd "$(dirname "$0")"
[[ ${SPS_PRIVATE_ENVIRONMENT:-} == 1 ]] || { echo "run this with: make demo" >&2; exit 64; }

read -r -a flags <<<"${SWIFT_FLAGS:-}"
shopfront=$(swift build "${flags[@]}" --show-bin-path)/Shopfront
securestore=$(SPS_TOOL=1 swift build --package-path .. "${flags[@]}" --show-bin-path)/securestore
password=correct-Pony-battery-91
work=$(mktemp -d)
bus=
keyring=
trap 'kill $keyring $bus 2>/dev/null || true; wait; rm -rf "$work"' EXIT
step() { printf '\n== %s\n' "$1"; }

# This bus starts no services and has no other users. There is no display, so nobody is prompted.
unset DISPLAY WAYLAND_DISPLAY SECRET_BACKEND
export DBUS_SESSION_BUS_ADDRESS=unix:path=$XDG_RUNTIME_DIR/bus
../scripts/bus-config.sh "$DBUS_SESSION_BUS_ADDRESS" >"$work/bus.conf"
setpriv --pdeathsig KILL dbus-daemon --config-file="$work/bus.conf" --nofork --nopidfile \
  2>"$work/log" &
bus=$!

# A copy: the installed daemon may have a capability that a container may not grant.
cp "$(command -v gnome-keyring-daemon)" "$work/gnome-keyring-daemon"
log_in() {
  local end=$((SECONDS + 60)) said code
  printf '%s' "the user's login" |
    setpriv --pdeathsig KILL "$work/gnome-keyring-daemon" --components=secrets --foreground --unlock \
      >>"$work/log" 2>&1 &
  keyring=$!
  while [[ $SECONDS -lt $end ]]; do
    # Without a service this prints an error; with one, the item is absent and nothing is printed.
    if [[ -S $XDG_RUNTIME_DIR/bus ]]; then
      code=0
      said=$(timeout 5 secret-tool lookup is-it there 2>&1) || code=$?
      ((code != 1)) || [[ -n $said ]] || return 0
    fi
    sleep 0.05
  done
  cat "$work/log" >&2
  return 1
}
log_in

step "On a desktop, the shop's program keeps a password with @Keychain"
"$shopfront" login <<<"$password"

step "The program of README.md keeps a setting, whose key is in the keyring"
desktop=${shopfront%/*}/desktop  # built by scripts/readme.sh
[[ $(echo dark | "$desktop") == "theme dark" && $("$desktop" </dev/null) == "theme dark" ]]
[[ ! -e $XDG_DATA_HOME/com.example.notes/master.key ]]

step "Another program stores a GitHub token for all programs to read"
# shellcheck disable=SC2016  # shown as it is typed
echo '$ secret-tool store --label="GitHub token" service github.token account octocat'
printf '%s' ghp_demo0123456789abcdefghijklmnopqrstuv |
  secret-tool store --label="GitHub token" service github.token account octocat

step "A second process reads both: its own with @Keychain, the token with @SecureCredentials"
"$shopfront" desk

step "What other programs see of the shop's password"
echo '$ secret-tool search --all xdg:schema SecurePropertyStorage.Sealed'
sealed=$(secret-tool search --all xdg:schema SecurePropertyStorage.Sealed 2>&1 | cat -v)
grep -E '^(label|secret|attribute\.(service|record)) = ' <<<"$sealed" | cut -c 1-76 | sed 's/^/  /'
secret-tool search --all service org.example.shopfront >"$work/seen" 2>&1
secret-tool search --all xdg:schema SecurePropertyStorage.Key >>"$work/seen" 2>&1
[[ $(grep -c '^label = ' "$work/seen") -ge 3 ]]
for text in checkout-password "$password"; do
  if grep -qaF -- "$text" "$work/seen" || grep -rqaF -- "$text" "$XDG_DATA_HOME"; then
    echo "the keyring shows a name or a value" >&2
    exit 1
  fi
done
echo "  searched for the name and the value: neither found"

step "The keyring is locked: reading is an error; it does not wait, and the keyring does not appear empty"
# As when its user locks it. Not by `secret-tool lock`, which crashes in libsecret 0.20.
gdbus call --session --dest org.freedesktop.secrets --object-path /org/freedesktop/secrets \
  --method org.freedesktop.Secret.Service.Lock \
  "['/org/freedesktop/secrets/collection/login']" >>"$work/log"
if "$shopfront" desk; then
  echo "a locked keyring was read" >&2
  exit 1
fi
"$securestore" doctor --app org.example.shopfront | grep -E 'session bus|keyring'

step "After the next login, everything can be read again"
kill "$keyring"
wait "$keyring" 2>/dev/null || true
log_in
"$shopfront" desk
