#!/usr/bin/env bash
# Three instances of the example service over one store in etcd or PostgreSQL: a token of one is good at all,
# one password is changed for all while they serve, and a killed server of the engine or instance loses nothing.
# Usage: fleet.sh PROGRAM etcd|postgres
# shellcheck source-path=SCRIPTDIR
engine=$2
source "$(dirname "$0")/common.sh" "$1"

declare -a members=() servers=()
end() {
  kill -9 "${servers[@]}" 2>/dev/null || true
  # A process of PostgreSQL that is killed in another way leaves its children.
  kill -QUIT "${members[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT

await() { # MESSAGE COMMAND...: until the command succeeds
  local message=$1 limit=$((SECONDS + 60))
  shift
  until "$@"; do
    ((SECONDS < limit)) || fail "$message"
    sleep 0.05
  done
}

mapfile -t ports < <("$(dirname "$0")/../../../scripts/free-ports.py" 9)
# shellcheck source=fleet-etcd.sh
source "$(dirname "$0")/fleet-$engine.sh"
start_engine
# As on a server: the key is a credential, which each machine has, and none is made.
export STATE_DIRECTORY=$work/state CREDENTIALS_DIRECTORY=$work/credentials
mkdir -m 0700 "$STATE_DIRECTORY" "$CREDENTIALS_DIRECTORY"
(umask 077 && head -c 32 /dev/urandom >"$CREDENTIALS_DIRECTORY/token-service-key")

# No start makes the store: an instance with a wrong address would else have one of its own.
code=0
"$program" serve --http-port 1 >"$work/log" 2>&1 || code=$?
[[ $code == 69 ]] || fail "a start without a store ends with $code"
await "$engine does not start" "$program" create 2>"$work/log"

start_instance() {
  local try
  for try in 1 2 3; do
    "$program" serve --http-port "${ports[$1 + 6]}" >>"$work/log$1" 2>&1 &
    servers[$1]=$!
    for _ in $(seq 600); do
      ! curl -s -o /dev/null "http://127.0.0.1:${ports[$1 + 6]}/health" || return 0
      kill -0 "${servers[$1]}" 2>/dev/null || break
      sleep 0.05
    done
  done
  cat "$work/log$1" >&2
  fail "instance $1 does not start"
}
at() { port=${ports[$1 + 6]}; }
# At all three at once, which make one password.
for i in 0 1 2; do start_instance "$i"; done
password=$("$program" password)

valid() { at "$1" && [[ $(check "$2") == 200 ]]; }
invalid() { at "$1" && [[ $(check "$2") == 401 ]]; }
administrator() { at "$1" && [[ $(admin "$(base)/admin/tokens/count") == 200 ]]; }
stranger() { at "$1" && [[ $(admin "$(base)/admin/tokens/count") == 401 ]]; }

at 0
[[ $(admin -X POST --data alice "$(base)/admin/tokens") == 200 ]] || fail "the password is not taken"
token=$(<"$work/body")
for i in 0 1 2; do await "instance $i does not know the token" valid "$i" "$token"; done

# The password is changed once, by a command on any machine.
old=$password
new=$("$program" password --new)
[[ $old != "$new" ]] || fail "the password did not change"
for i in 0 1 2; do
  password=$new
  await "instance $i does not take the new password" administrator "$i"
  password=$old
  stranger "$i" || fail "instance $i still takes the old password"
done
password=$new

# The server that leads is killed: tokens are good as before, and a new one is issued when there is one again.
kill_leader
for i in 0 1 2; do valid "$i" "$token" || fail "without a leader instance $i lost the token"; done
issues() { at 1 && [[ $(admin -X POST --data bob "$(base)/admin/tokens") == 200 ]]; }
lead_again
await "after the kill no token is issued" issues
second=$(<"$work/body")
rejoin
for i in 0 1 2; do await "instance $i does not know the second token" valid "$i" "$second"; done

# An instance is killed and starts again; a withdrawn token is good at none.
kill -9 "${servers[2]}"
wait "${servers[2]}" 2>/dev/null || true
start_instance 2
for one in "$token" "$second"; do valid 2 "$one" || fail "a token is lost after a kill"; done
at 2
[[ $(admin -X DELETE "$(base)/admin/tokens/${token%%.*}") == 2* ]] || fail "the token is not withdrawn"
for i in 0 1 2; do await "instance $i still takes a withdrawn token" invalid "$i" "$token"; done
[[ $(admin -X POST "$(base)/admin/rotate") == 204 ]] || fail "the keys can't be rotated"
for i in 0 1 2; do await "after the rotation instance $i lost a token" valid "$i" "$second"; done

if grep -rlaF -e "${second#*.}" -e "$new" "$work/engine"; then
  fail "the engine's files hold a token or the password"
fi
echo "service: three instances over $engine share their tokens and one password, which was changed while they served"
