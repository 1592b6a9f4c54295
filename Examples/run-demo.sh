#!/usr/bin/env bash
# The demo: settings of a web shop are imported, read by a second process, examined by an outsider,
# and damaged. Runs in the private environment that scripts/private-env.sh creates.
set -euo pipefail
cd "$(dirname "$0")"

webshop=$(swift build --show-bin-path)/Webshop
step() { printf '\n== %s\n' "$1"; }

step "A first process imports webshop.env into sealed UserDefaults, and ends"
"$webshop" import webshop.env

step "A second process reads it back"
"$webshop" show

step "What another program sees in the file"
"$webshop" look webshop.env
ls -l "$XDG_CONFIG_HOME" "$XDG_DATA_HOME/org.example.webshop" | sed 's/^/  /'

step "Somebody flips one bit of one value: that value is refused, the others can be read"
"$webshop" flip
if shown=$("$webshop" show); then
  echo "the damaged value was not refused" >&2
  exit 1
fi
grep -E '!|read by' <<<"$shown"

step "The key file is moved away: all data is refused, and no new key is created"
mv "$XDG_DATA_HOME/org.example.webshop/master.key" "$XDG_DATA_HOME/master.key.elsewhere"
"$webshop" show 2>&1 | head -2 || true
[[ ! -e $XDG_DATA_HOME/org.example.webshop/master.key ]]

step "The key file is moved back, and the data opens again"
mv "$XDG_DATA_HOME/master.key.elsewhere" "$XDG_DATA_HOME/org.example.webshop/master.key"
"$webshop" show | tail -1 || true
