#!/usr/bin/env bash
# Tests the real process of the example service: the messages of its starts, and that no token is lost.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/common.sh" "$1"

# A start that must fail: its exit code, and a word of its message.
refuses() {
  local code=0 expected=$1 word=$2
  shift 2
  "$@" >"$work/log" 2>&1 || code=$?
  [[ $code == "$expected" ]] || fail "exit code $code and not $expected: $*"
  grep -q "$word" "$work/log" || fail "the output does not contain '$word': $*"
}

export HTTP_PORT=1 # nothing below listens at a port that the test did not choose
refuses 69 'unavailable' "$program" serve --store-must-exist
[[ -z $(ls -A "$state") ]] || fail "a refused start created files"
unset HTTP_PORT

# On a server a missing secret is an error, and no key is made beside the vault.
mkdir -m 0700 "$work/server"
refuses 10 'keyUnavailable' env STATE_DIRECTORY="$work/server" "$program" serve --http-port 1
[[ -z $(ls -A "$work/server") ]] || fail "a start without its secret created files"
# A wrong word, a wrong setting and a missing vault start nothing and make nothing.
refuses 64 'usage' "$program" isue alice
refuses 0 'usage' "$program" issue --help
refuses 64 'holder' "$program" issue -x
refuses 69 'unavailable' "$program" issue alice
refuses 64 'STORE_MUST_EXIST' env STORE_MUST_EXIST=on "$program" serve --http-port 1
refuses 64 'port' "$program" serve --http-port 99999
rm -f "$state"/default.vault* "$state"/master.key*

# Two commands: the service, and another process that issues a token.
start
token=$("$program" issue alice)
[[ $(check "$token") == 200 && $(cat "$work/body") == alice ]] || fail "the token is not valid"
[[ $(check "$token"x) == 401 ]] || fail "a changed token is valid"
[[ $(request "$(base)/admin/tokens/count") == 401 ]] || fail "anybody is the administrator"
[[ $(request "$(base)/metrics") == 200 ]] || fail "there are no metrics"
grep -q 'securestorage_writes{store="vault"}' "$work/body" || fail "the metrics have no writes"
! grep -rq "${token#*.}" "$state" || fail "the token is on disk in the clear"

# A second instance at the same port reports the conflict, and does not disturb the first one.
refuses 75 'has the port' "$program" serve --http-port "$port"
[[ $(check "$token") == 200 ]] || fail "the first instance stopped serving"
stop || fail "the service ended with $?"
grep -q 'a store is closed' "$work/log" || fail "the store was not closed"

# A missing or a wrong key is an error, and no new key is created.
mv "$state/master.key" "$work/key"
refuses 10 'keyUnavailable' "$program" serve --store-must-exist
[[ ! -e $state/master.key ]] || fail "a new key was created for a vault that has data"
(umask 077 && openssl rand -base64 32 >"$state/master.key")
refuses 11 'wrongKey' "$program" serve --store-must-exist
mv "$work/key" "$state/master.key"

# A new password in the vault takes effect from the next request on.
start --store-must-exist
password=$("$program" password)
[[ $(admin -X POST --data bob "$(base)/admin/tokens") == 200 ]] || fail "the password is not taken"
tokens=("$token" "$(cat "$work/body")")

# Keys are rotated, and the process is killed meanwhile: all acknowledged tokens must survive.
for round in $(seq "${SPS_KILL_ROUNDS:-6}"); do
  for _ in $(seq 20); do
    [[ $(admin -X POST --data "holder $round" "$(base)/admin/tokens") == 200 ]] || fail "no token is issued"
    tokens+=("$(cat "$work/body")")
  done
  admin -X POST "$(base)/admin/rotate" >/dev/null 2>&1 &
  rotation=$!
  sleep "0.0$((RANDOM % 10))"
  kill -9 "$server"
  wait "$server" 2>/dev/null || true
  wait "$rotation" 2>/dev/null || true
  start --store-must-exist
  for token in "${tokens[@]}"; do
    [[ $(check "$token") == 200 ]] || fail "a token is lost after kill $round"
  done
done
[[ $(admin -X POST "$(base)/admin/rotate") == 204 ]] || fail "the keys can't be rotated"
[[ $(admin "$(base)/admin/tokens/count") == 200 && $(cat "$work/body") == "${#tokens[@]}" ]] ||
  fail "there are $(cat "$work/body") tokens and not ${#tokens[@]}"
stop || fail "the service ended with $?"

# On a full disk, stored tokens still work, and failed writes are reported. Needs root, to mount one.
if [[ $(id -u) -eq 0 ]] && unshare --mount true 2>/dev/null; then
  # shellcheck disable=SC2016  # the inner shell expands its own arguments
  SPS_STATE=$state unshare --mount --propagation private bash -euc '
    mount -t tmpfs -o size=3m,mode=0700 tmpfs "$SPS_STATE"
    exec bash "$0" "$1"' "$(dirname "$0")/full-disk.sh" "$program"
elif [[ ${CI:-} == true ]]; then
  fail "no file system could be mounted, so the full disk was not tested"
fi
echo "service: starts that fail, kills during rotations and a full disk lose no token ($SECONDS s)"
