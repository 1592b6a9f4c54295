#!/usr/bin/env bash
# The demo of a service with live settings: it starts with the settings of a file, and follows what securestore
# changes in other processes. Runs in the private environment that scripts/private-env.sh creates.
set -euo pipefail
cd "$(dirname "$0")"

relay=$(swift build --show-bin-path)/Relay
securestore=$(swift build --package-path ../Tools/securestore --show-bin-path)/securestore
app=(--app org.example.relay)
work=$(mktemp -d)
trap 'kill "$service" 2>/dev/null || true; rm -rf "$work"' EXIT
service=

# How often the service's threads slept and were woken.
wakes() { awk '/^voluntary/ { sum += $2 } END { print sum }' /proc/"$service"/task/*/status; }
left() { printf '%-44s|\n' "$1"; }
fail() {
  echo "$1" >&2
  exit 1
}
# Waits for the next line of the service, shows it on the right, and compares it with the expected line.
right() {
  local patience=6000
  lines=$((lines + 1))
  until (($(wc -l <"$work/shown") >= lines)); do
    # The service ends after its last line, which may have arrived by now.
    if ! kill -0 "$service" 2>/dev/null && (($(wc -l <"$work/shown") < lines)) ||
      ((patience-- == 0)); then
      fail "the service does not react"
    fi
    sleep 0.01
  done
  local shown
  shown=$(sed -n "${lines}p" "$work/shown")
  printf '%-44s| %s\n' "" "$shown"
  [[ $shown == "$1" ]] || fail "the service should say: $1"
}
# Sets a value, as an administrator does.
set_value() {
  left "\$ securestore set $1 <<<'$2'"
  printf '%s' "$2" | "$securestore" set "${app[@]}" --quiet "$1"
}

printf '\n== %s\n' "A service takes its settings from a file, and says which secrets are missing"
"$securestore" init "${app[@]}" >/dev/null 2>&1
"$securestore" import "${app[@]}" relay.env 2>/dev/null
code=0
"$relay" 1 || code=$?
((code == 78)) || fail "the service should have missed its secrets"
for name in smartHost.password database.url admin.token; do
  head -c 18 /dev/urandom | base64 | "$securestore" set "${app[@]}" --quiet "secret.$name"
done

printf '\n== %s\n' "One process edits a setting, and the other reacts without polling"
"$relay" 5 >"$work/shown" 2>"$work/said" &
service=$!
lines=0
printf '%-44s| %s\n' "an administrator's shell" "the service, process $service"
right 'port 2600, workers 8, warning'
set_value listen.port 2700
right 'port 2700, workers 8, warning'
set_value log.level debug
right 'port 2700, workers 8, debug'
left '  (nothing for a second)'
sleep 0.5
before=$(wakes)
sleep 1
woken=$(($(wakes) - before))
printf '%-44s| %s\n' "" "(was woken $woken times)"
# Polling would wake it more often; a thread of Dispatch may end.
((woken <= 5)) || fail "the service should have slept"
# A port that is none is never in effect; the service says so once.
set_value listen.port smtp
patience=6000
until [[ -s $work/said ]]; do
  ((patience-- > 0)) || fail "the service should have reported the port that is none"
  sleep 0.01
done
set_value queue.paused true
right 'port 2700, workers 8, debug, paused'
left '$ securestore remove queue.paused'
"$securestore" remove "${app[@]}" --quiet queue.paused
right 'port 2700, workers 8, debug'
wait "$service"
(($(wc -l <"$work/shown") == lines)) || fail "the service printed more lines than expected"
fold -s -w 100 "$work/said"
