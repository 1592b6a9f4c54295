#!/usr/bin/env bash
# The demo of live properties: a signboard observes two values of a vault, which securestore changes in
# other processes. Runs in the private environment that scripts/private-env.sh creates.
set -euo pipefail
cd "$(dirname "$0")"

read -r -a flags <<<"${SWIFT_FLAGS:-}"
signboard=$(swift build "${flags[@]}" --show-bin-path)/Signboard
securestore=$(SPS_TOOL=1 swift build --package-path .. "${flags[@]}" --show-bin-path)/securestore
app=(--app org.example.shopfront)
work=$(mktemp -d)
trap 'kill "$reader" 2>/dev/null || true; rm -rf "$work"' EXIT
reader=

# How often the signboard's threads slept and were woken.
wakes() { awk '/^voluntary/ { sum += $2 } END { print sum }' /proc/"$reader"/task/*/status; }
left() { printf '%-44s|\n' "$1"; }
fail() {
  echo "$1" >&2
  exit 1
}
# Waits for the next line of the signboard, shows it on the right, and compares it with the expected line.
right() {
  local patience=6000
  lines=$((lines + 1))
  until (($(wc -l <"$work/shown") >= lines)); do
    # The signboard ends after its last line, which may have arrived by now.
    if ! kill -0 "$reader" 2>/dev/null && (($(wc -l <"$work/shown") < lines)) ||
      ((patience-- == 0)); then
      fail "the signboard does not react"
    fi
    sleep 0.01
  done
  local shown
  shown=$(sed -n "${lines}p" "$work/shown")
  printf '%-44s| %s\n' "" "$shown"
  [[ $shown == "$1" ]] || fail "the signboard should say: $1"
}
# Sets a value; the signboard must then show something else.
set_value() {
  left "\$ securestore set $1 <<<'$2'"
  printf '%s' "$2" | "$securestore" set "${app[@]}" --quiet "$1"
  right "$3"
}

printf '\n== %s\n' "One process edits a setting, and the other reacts without polling"
"$securestore" init "${app[@]}" >/dev/null 2>&1
"$signboard" 5 >"$work/shown" &
reader=$!
lines=0
printf '%-44s| %s\n' "an administrator's shell" "the signboard, process $reader"
right 'Welcome!'
set_value GREETING 'Good morning' 'Good morning!'
set_value OFFER 'plums' 'Good morning! Today: plums'
left '  (nothing for a second)'
sleep 0.5
before=$(wakes)
sleep 1
woken=$(($(wakes) - before))
printf '%-44s| %s\n' "" "(was woken $woken times)"
# Polling would wake it more often; a thread of Dispatch may end.
((woken <= 5)) || fail "the signboard should have slept"
set_value OFFER 'plums and pears' 'Good morning! Today: plums and pears'
left '$ securestore remove OFFER'
"$securestore" remove "${app[@]}" --quiet OFFER
right 'Good morning!'
wait "$reader"
(($(wc -l <"$work/shown") == lines)) || fail "the signboard printed more lines than expected"
