#!/usr/bin/env bash
# The demo of the vault: an administrator fills a vault with securestore, a server reads it, a value is
# changed while the server watches, keys are rotated, the vault is checked and backed up, and a
# copy is damaged. Runs in the private environment that scripts/private-env.sh creates.
set -euo pipefail
cd "$(dirname "$0")"

read -r -a flags <<<"${SWIFT_FLAGS:-}"
shopfront=$(swift build "${flags[@]}" --show-bin-path)/Shopfront
securestore=$(SPS_TOOL=1 swift build --package-path .. "${flags[@]}" --show-bin-path)/securestore
app=(--app org.example.shopfront)
folder=$XDG_DATA_HOME/org.example.shopfront
work=$(mktemp -d)
trap 'kill "$watcher" 2>/dev/null || true; rm -rf "$work"' EXIT
watcher=
step() { printf '\n== %s\n' "$1"; }
run() {
  printf '$ securestore %s\n' "$*"
  "$securestore" "$@" 2>&1
}

step "An administrator creates a vault and imports webshop.env"
run init "${app[@]}"
run import "${app[@]}" webshop.env
run list "${app[@]}" | sed -n '1,5p; $p'

step "The server reads the vault twice: the second start continues the count of the first"
"$shopfront" show
"$shopfront" show | head -1

step "A second process changes a value while the first prints it"
timeout 120 "$shopfront" watch 3 >"$work/watched" &
watcher=$!
lines=1
for level in debug warning; do
  # If changes follow each other too fast, the watcher sees only the last one.
  until (($(wc -l <"$work/watched") >= lines)); do
    kill -0 "$watcher"
    sleep 0.05
  done
  printf '%s' "$level" | "$securestore" set "${app[@]}" --quiet LOG_LEVEL
  lines=$((lines + 1))
done
wait "$watcher"
cat "$work/watched"

step "What another program sees in the vault's folder"
find "$folder" -type f -printf '  %M %6s %f\n' | sort -k3
"$securestore" get "${app[@]}" STRIPE_SECRET_KEY >"$work/secret"
for text in STRIPE_SECRET_KEY SMTP_PASSWORD "$(cat "$work/secret")"; do
  if grep -rqF -- "$text" "$folder"; then
    echo "the folder shows a name or a value" >&2
    exit 1
  fi
done
echo "  searched for names and values: none found"

step "All keys in the vault are replaced, including that of names; the vault is checked and backed up"
run rotate --root --names --same-key "${app[@]}"
run verify "${app[@]}"
run backup "${app[@]}" "$work/copy.vault"
"$shopfront" show | head -2

step "One byte of a copy is damaged: verify finds it, and undamaged values open"
cp "$work/copy.vault" "$work/damaged.vault"
# The longest value, DATABASE_REPLICA_URLS: names are sealed, so rows can't be found by name or order.
python3 - "$work/damaged.vault" <<'PYTHON'
import sqlite3, sys
record = sqlite3.connect(sys.argv[1]).execute(
    "SELECT value FROM record WHERE value IS NOT NULL ORDER BY length(value) DESC LIMIT 1"
).fetchone()[0]
with open(sys.argv[1], "r+b") as file:
    file.seek(file.read().index(record) + len(record) - 1)
    file.write(bytes([record[-1] ^ 1]))
PYTHON
key=(--key-file "$folder/master.key")
if run verify --vault "$work/damaged.vault" "${key[@]}" --expect PUBLIC_URL; then
  echo "the damage was not found" >&2
  exit 1
fi
run get --vault "$work/damaged.vault" "${key[@]}" PUBLIC_URL
run verify --vault "$work/copy.vault" "${key[@]}"

step "The vault is lost and restored from the backup"
rm "$folder"/default.vault*
run restore "${app[@]}" "$work/copy.vault"
"$shopfront" show
