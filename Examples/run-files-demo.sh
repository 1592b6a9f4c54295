#!/usr/bin/env bash
# The demo of the sealed folder: a dump of some hundred megabytes is stored, a range of it is read, keys are
# replaced, one segment is damaged, and the undamaged rest is read. Runs in the private environment that
# scripts/private-env.sh creates.
set -euo pipefail
cd "$(dirname "$0")"

read -r -a flags <<<"${SWIFT_FLAGS:-}"
securestore=$(SPS_TOOL=1 swift build --package-path .. "${flags[@]}" --show-bin-path)/securestore
app=(--app org.example.archive)
folder=$XDG_DATA_HOME/org.example.archive/files
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step() { printf '\n== %s\n' "$1"; }
run() {
  printf '$ securestore %s\n' "$*"
  "$securestore" "$@" 2>&1
}
same() { cmp "$1" "$2" && echo "  the same bytes"; }

step "A folder is created, and a dump of 200 MB is stored through a pipe"
run files init "${app[@]}"
openssl rand 200000000 >"$work/dump"
"$securestore" files put "${app[@]}" database.dump <"$work/dump"
printf 'a note' | "$securestore" files put "${app[@]}" note
run files list --long "${app[@]}"

step "What another program sees: an index, and a file without a name"
(cd "$folder" && find . -type f -printf '  %M %9s %p\n' | sort -k3)

step "20 bytes in the middle are read without the rest"
"$securestore" files get "${app[@]}" database.dump --offset 100000000 --length 20 >"$work/part"
same "$work/part" <(tail -c +100000001 "$work/dump" | head -c 20)

step "All keys are replaced: the index and the dump are sealed again"
run files rotate --same-key "${app[@]}"
run files verify "${app[@]}"
"$securestore" files get "${app[@]}" database.dump >"$work/whole"
same "$work/whole" "$work/dump"

step "Somebody flips one bit of the dump's file: verify finds it, and names the value and the bytes"
blob=$(find "$folder/blobs" -type f)
python3 - "$blob" <<'PYTHON'
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(150_000_000)
    byte = file.read(1)[0]
    file.seek(150_000_000)
    file.write(bytes([byte ^ 1]))
PYTHON
if run files verify "${app[@]}"; then
  echo "the damage was not found" >&2
  exit 1
fi
if run files get "${app[@]}" database.dump --to "$work/damaged"; then
  echo "a damaged value was returned" >&2
  exit 1
fi

step "The bytes before and after the damaged segment can still be read"
"$securestore" files get "${app[@]}" database.dump --length 149000000 >"$work/head"
same "$work/head" <(head -c 149000000 "$work/dump")
"$securestore" files get "${app[@]}" database.dump --offset 151000000 >"$work/tail"
same "$work/tail" <(tail -c +151000001 "$work/dump")
"$securestore" files get "${app[@]}" note && echo
