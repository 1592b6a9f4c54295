#!/usr/bin/env bash
# Builds the tests, then runs them in a private environment; arguments go to both steps.
# SPS_SOAK=1 runs the long tests alone, FILTER the tests that match; CI=true forbids skips.
set -euo pipefail
cd "$(dirname "$0")/.."

read -r -a flags <<<"${SWIFT_FLAGS:-}"
swift build --build-tests "${flags[@]}" "$@"
printf 'test: built in %d s\n' "$SECONDS"

assignments=$(scripts/vectors.sh)
eval "$assignments"

selection=(--skip Soak)
# ArriveSoonSoak measures how soon another thread is woken, so it runs alone, by FILTER.
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
  --skip 'CAVP|Wycheproof|RFCVector|XAES')
# Where everything is ten times slower, deadlines of seconds pass in tests that wait for many others.
[[ -z ${SPS_SANITIZER:-} ]] || selection+=(--experimental-maximum-parallelization-width 8)
# These go last, alone: those that run XCTest, which spins for as long as other tests keep it from a thread, and
# those with a deadline that passes while other tests keep their tasks from one, and one that needs a place
# among the errors that are counted apart.
alone='StorageTestCaseTests|InjectTestingTests.TestCaseTests|aHungStoreDelaysNoWrite'
alone+='|theLoggerGetsEachThingOnce|UnfinishedTests.atOnceManyTasksLoseNoChange|GroupTests.atOnceTheyLoseNothing'
if [[ -n ${FILTER:-} ]]; then
  scripts/checked-tests.sh "${flags[@]}" "$@" --filter "$FILTER"
elif [[ -n ${SPS_SOAK:-} ]]; then
  scripts/checked-tests.sh "${flags[@]}" "$@" "${selection[@]}"
else
  # In two processes at once: a test that waits for a disk or a daemon holds one of the threads of Swift
  # concurrency, of which there are as many as processors, so one process leaves a third of their time unused.
  half='^(CryptoCore|StorageCore|VaultBackend|FileBackend|DefaultsBackend|InjectRegistry)Tests\.'
  selection+=(--skip "$alone" --ignore-lock)
  log=$(mktemp)
  # What failed in either is said at the very end, where the last lines of a long output show it.
  SPS_FAILURES=$(mktemp)
  export SPS_FAILURES
  set -m  # a group of its own, which ends with this script
  scripts/checked-tests.sh "${flags[@]}" "$@" "${selection[@]}" --skip "$half" >"$log" 2>&1 &
  set +m
  other=$!
  trap 'kill -- "-$other" 2>/dev/null || true; rm -f "$log" "$SPS_FAILURES"' EXIT
  result=0
  # Both read the build's database at their start, and one would find it locked.
  until grep -q 'Test run started' "$log" || ! kill -0 "$other" 2>/dev/null; do sleep 0.1; done
  # One after the other under a sanitizer, where each is so slow that deadlines of seconds pass.
  [[ -z ${SPS_SANITIZER:-} ]] || wait "$other" || result=$?
  scripts/checked-tests.sh "${flags[@]}" "$@" "${selection[@]}" --filter "$half" || result=$?
  [[ -n ${SPS_SANITIZER:-} ]] || wait "$other" || result=$?
  cat "$log"
  if ((result != 0)); then
    cat "$SPS_FAILURES"
    exit "$result"
  fi
  scripts/checked-tests.sh "${flags[@]}" "$@" --filter "$alone"
fi

# How containers mount secrets and disks; a sanitizer's program needs what its users may not read.
if [[ -z ${FILTER:-}${SPS_SOAK:-}${SPS_SANITIZER:-} ]]; then
  scripts/private-env.sh scripts/mounts.sh \
    "$(swift build "${flags[@]}" "$@" --show-bin-path)/VaultTestChild"
fi
printf 'test: all parts in %d s, the build included\n' "$SECONDS"
