# Shared by the scripts beside this one. Source it in a private environment, with the program as $1.
# shellcheck shell=bash
set -euo pipefail
program=$1
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill -9 "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
# As on a developer's machine, where the first start makes the key: no state folder of systemd.
unset STATE_DIRECTORY CREDENTIALS_DIRECTORY
state=${SPS_STATE:-$work/data/token-service}
export XDG_DATA_HOME=${state%/*}
mkdir -p -m 0700 "$XDG_DATA_HOME" "$state"

fail() {
  echo "service: $*" >&2
  [[ ! -s $work/log ]] || tail -20 "$work/log" >&2
  exit 1
}

# Starts the service at a free port, and waits until it answers.
port=
start() {
  local try
  for try in 1 2 3; do
    port=$((20000 + RANDOM % 20000))
    "$program" serve --http-port "$port" "$@" >"$work/log" 2>&1 &
    server=$!
    for _ in $(seq 600); do
      ! curl -s -o /dev/null "http://127.0.0.1:$port/health" || return 0
      kill -0 "$server" 2>/dev/null || break
      sleep 0.05
    done
    kill -9 "$server" 2>/dev/null || true
    grep -q 'has the port' "$work/log" || break
  done
  fail "the service does not start"
}

# Stops the service and returns its exit code.
stop() {
  local code=0
  kill -TERM "$server"
  wait "$server" || code=$?
  server=
  return "$code"
}

# A request: prints the status, and the body into $work/body.
request() { curl -s -o "$work/body" -w '%{http_code}' "$@"; }
base() { echo "http://127.0.0.1:$port"; }
check() { request -H "Authorization: Bearer $1" "$(base)/check"; }
admin() { request -H "Authorization: Bearer $password" "$@"; }
