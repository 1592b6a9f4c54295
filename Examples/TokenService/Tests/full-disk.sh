#!/usr/bin/env bash
# The example service on a full disk; $SPS_STATE is a small file system of its own.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/common.sh" "$1"
start
token=$("$program" issue alice)
password=$("$program" password)
dd if=/dev/zero of="$state/filler" bs=4k 2>/dev/null || true
# The vault's log still has room for some writes.
status=200
for _ in $(seq 2000); do
  status=$(admin -X POST --data bob "$(base)/admin/tokens")
  [[ $status == 200 ]] || break
done
[[ $status == 507 ]] || fail "a full disk is answered by $status"
[[ $(check "$token") == 200 ]] || fail "a token can't be checked on a full disk"
[[ $(request "$(base)/health") == 200 ]] || fail "the service is not healthy, although it can serve"
grep -q full "$work/body" || fail "the health page does not mention the full disk"
# A service that starts again there checks tokens as well.
stop || fail "the service ended with $?"
start --store-must-exist
[[ $(check "$token") == 200 ]] || fail "a service that starts on a full disk checks no token"
rm "$state/filler"
[[ $(admin -X POST --data bob "$(base)/admin/tokens") == 200 ]] || fail "with room again, writing still fails"
stop || fail "the service ended with $?"
