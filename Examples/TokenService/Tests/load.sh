#!/usr/bin/env bash
# The example service under load, while its keys are rotated: no request may fail, and the store may take at
# most a tenth of the processor time. Needs wrk.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/common.sh" "$1"
seconds=${SPS_LOAD_SECONDS:-30}
start
password=$("$program" password)
for name in $(seq 50); do
  [[ $(admin -X POST --data "holder $name" "$(base)/admin/tokens") == 200 ]] || fail "no token is issued"
  cat "$work/body" >>"$work/tokens"
done
cat >"$work/check.lua" <<LUA
local tokens = {}
for line in io.lines("$work/tokens") do tokens[#tokens + 1] = line end
local index = 0
request = function()
  index = index % #tokens + 1
  return wrk.format("GET", "/check", { ["Authorization"] = "Bearer " .. tokens[index] })
end
done = function(summary)
  local e = summary.errors
  print(string.format("failed %d of %d", e.connect + e.read + e.write + e.status + e.timeout, summary.requests))
end
LUA
wrk -t 1 -c 16 -d "${seconds}s" -s "$work/check.lua" "$(base)" >"$work/wrk" &
client=$!
rotations=0
while kill -0 "$client" 2>/dev/null; do
  [[ $(admin -X POST "$(base)/admin/rotate") == 204 ]] || fail "the keys can't be rotated under load"
  rotations=$((rotations + 1))
  sleep 1
done
wait "$client" || fail "wrk failed"
failed=$(sed -n 's/^failed \([0-9]*\) of .*/\1/p' "$work/wrk")
[[ $failed == 0 ]] || { cat "$work/wrk" >&2; fail "$failed requests failed"; }
[[ $(request "$(base)/metrics") == 200 ]] || fail "there are no metrics"
value() { sed -n "s/^$1 \([0-9]*\).*/\1/p" "$work/body"; }
store=$(value token_store_cpu_nanoseconds)
all=$(value process_cpu_nanoseconds)
checks=$(value token_checks)
((store > 0 && checks > 100 && rotations > 1)) || fail "nothing was measured"
printf 'service: %d checks in %d s, %d rotations meanwhile, none failed; the store took %d ns a check, %d.%d %% of the processor time\n' \
  "$checks" "$seconds" "$rotations" $((store / checks)) $((store * 100 / all)) $((store * 1000 / all % 10))
# Each measured time includes one reading of the clock, a quarter of a microsecond: half a percent.
((store * 1000 <= all * 105)) || fail "the store took more than a tenth of the processor time"
stop || fail "the service ended with $?"
