#!/usr/bin/env bash
# Builds the tests, then runs them in private environments; arguments go to the build.
# SPS_SOAK=1 runs the long tests alone, FILTER the tests that match; CI=true forbids skips.
set -euo pipefail
cd "$(dirname "$0")/.."
export SPS_TOOL=1

read -r -a flags <<<"${SWIFT_FLAGS:-}"
swift build --build-tests "${flags[@]}" "$@"
built=$SECONDS
bin=$(swift build "${flags[@]}" "$@" --show-bin-path)
tests=$bin/SecurePropertyStoragePackageTests.xctest

assignments=$(scripts/vectors.sh)
eval "$assignments"

selection=(--skip Soak)
# ArriveSoonSoak measures how soon another thread is woken, so it runs alone, by FILTER.
# By night: each of them starts a primary and two standbys.
[[ ${SPS_DEPTH:-} == full ]] || selection+=(--skip FailoverTests)
[[ -z ${SPS_SOAK:-} ]] || selection=(--filter Soak --skip ArriveSoonSoak)
# A sanitizer's own threads don't survive fork(2), mlock(2) does nothing under it, its shadow memory
# makes a search of memory endless and a bound on it meaningless, its allocator can't be counted, and a
# writer is too slow for a power cut in time; published vectors show nothing new there and take many
# times as long.
[[ -z ${SPS_SANITIZER:-} ]] || selection+=(
  --skip 'ForkTests|ForkedSealTests|NonceTests|NoncePoolTests|KeyPageTests|WipeTests'
  --skip 'MemoryLockLimitTests|PowerCutTests|HostileClaimTests|AllocationTests|aLongValueTakesNoMemory'
  --skip 'aHandlerMayUseTheStorageThatIsBeingMade'  # which lowers the limit of mlock(2)
  # Its shadow memory is in files, which a limit of their size cuts off.
  --skip 'aWriteBeyondTheFileSizeLimitIsAnErrorAndNoSignal|theProgramsOwnHandlingOfTheSignalIsLeftAlone'
  --skip 'FileBackendTests.FailingCallTests'  # which has the sanitizer's own calls fail, too
  # securestore is tried as a program of its own, which takes no part in what is looked at.
  --skip '^SecurestoreTests\.'
  --skip 'CAVP|Wycheproof|RFCVector|XAES')
# Where everything is ten times slower, deadlines of seconds pass in tests that wait for many others.
[[ -z ${SPS_SANITIZER:-} ]] || selection+=(--experimental-maximum-parallelization-width 8)
if [[ -n ${FILTER:-} ]]; then
  exec scripts/checked-tests.sh "$tests" --filter "$FILTER"
elif [[ -n ${SPS_SOAK:-} ]]; then
  exec scripts/checked-tests.sh "$tests" "${selection[@]}"
fi

# What was measured to take as long: a test that waits for a disk or a daemon holds one of the threads of Swift
# concurrency, of which there are as many as processors, so that one process leaves a third of their time unused.
declare -A filters=(
  [files]='^(StorageCore|VaultBackend|FileBackend|DefaultsBackend)Tests\.'
  [tool]='^SecurestoreTests\.'
  [fleet]='^(EtcdBackend|PostgresBackend|RemoteBackend|CryptoCore|LocalData|SecureService|SecureConfiguration|InjectRegistry)Tests\.'
)
# These go last, alone: those that run XCTest, which spins for as long as other tests keep it from a thread, and
# those with a deadline that passes while other tests keep their tasks from one, and one that needs a place
# among the errors that are counted apart.
alone='StorageTestCaseTests|InjectTestingTests.TestCaseTests|aHungStoreDelaysNoWrite'
alone+='|theLoggerGetsEachThingOnce|UnfinishedTests.atOnceManyTasksLoseNoChange'

work=$(mktemp -d)
# What failed anywhere is said at the very end, where the last lines of a long output show it.
export SPS_FAILURES=$work/failures
touch "$SPS_FAILURES"
declare -A running=()
trap 'for group in "${running[@]}"; do kill -- "-$group" 2>/dev/null || true; done; rm -rf "$work"' EXIT

# Starts a part in a group of its own, which ends with this script, also when that is killed.
part() { # NAME COMMAND...
  local name=$1
  shift
  set -m
  {
    { while kill -0 $$ 2>/dev/null; do sleep 1; done; kill -KILL 0; } &
    guard=$!
    result=0
    "$@" || result=$?
    kill "$guard"
    echo "$SECONDS $result" >"$work/$name.end"
    times >>"$work/$name.end"
  } >"$work/$name.log" 2>&1 &
  set +m
  running[$name]=$!
}
# Waits for a part, and says what it said.
await() { # NAME
  local name=$1 end result processor
  wait "${running[$name]}" || true
  unset "running[$name]"
  cat "$work/$name.log"
  { read -r end result; read -r _; read -r processor; } <"$work/$name.end"
  parts+=("$(printf '%4d s  %-8s processor, user and system: %s' $((end - begin)) "$name" "$processor")")
  ((result == 0)) || failed+=("$name")
}
parts=("$(printf '%4d s  build' "$built")") failed=()

# securestore in a terminal, installed, over etcd, on a day with the fleet; how containers mount secrets and disks.
outside() {
  local of=Tools/securestore/Tests script failed=()
  try() {
    local result=0
    scripts/private-env.sh "$@" >"$work/said" 2>&1 || result=1
    cat "$work/said"
    [[ ${CI:-} != true ]] || ! grep -aq '➜ skipped' "$work/said" || result=1
    ((result == 0)) || { failed+=("$1"); tail -20 "$work/said" | cut -c 1-600 >>"$SPS_FAILURES"; }
  }
  for script in terminal install commands etcd postgres fleet-day; do try "$of/$script.sh" "$bin/securestore"; done
  try "$of/deps.sh"
  try scripts/tpm-guide.sh "$bin/securestore"
  try scripts/mounts.sh "$bin/VaultTestChild"
  ((${#failed[@]} == 0)) || printf '✘ %s\n' "${failed[@]}" >>"$SPS_FAILURES"
  return "${#failed[@]}"
}

begin=$SECONDS
run=(scripts/checked-tests.sh "$tests" "${selection[@]}" --skip "$alone")
others=()
for filter in "${filters[@]}"; do others+=(--skip "$filter"); done
if [[ -n ${SPS_SANITIZER:-} ]]; then
  # One after the other, where each is so slow that deadlines of seconds pass.
  for name in files fleet; do
    part "$name" "${run[@]}" --filter "${filters[$name]}"
    await "$name"
  done
  part rest "${run[@]}" "${others[@]}"
  await rest
else
  for name in "${!filters[@]}"; do part "$name" "${run[@]}" --filter "${filters[$name]}"; done
  part rest "${run[@]}" "${others[@]}"
  part outside outside
  for name in "${!running[@]}"; do await "$name"; done
fi
begin=$SECONDS
part alone scripts/checked-tests.sh "$tests" --no-parallel --filter "$alone"
await alone

printf '\ntest: the ten slowest tests, whose time counts what they waited for others:\n'
cat "$work"/*.log >"$work/all"
sed -nE 's/^[^ ]+ Test (.*\(.*) (passed|failed) after ([0-9.]+) seconds.*/\3 s  \1/p' "$work/all" |
  sort -rn >"$work/slowest"
head -10 "$work/slowest" | sed 's/^/  /'
printf 'test: the parts, of which all but the build and the last ran at once:\n'
printf '  %s\n' "${parts[@]}"
if ((${#failed[@]} > 0)); then
  cat "$SPS_FAILURES" >&2
  printf '\ntest: failed: %s\n' "${failed[*]}" >&2
  # The names once more, where the end of an output is all that is shown.
  grep -a '^✘ ' "$SPS_FAILURES" | cut -c 1-250 | awk '!seen[$0]++' | head -30 >&2 || true
  exit 1
fi
printf 'test: all passed in %d s\n' "$SECONDS"
