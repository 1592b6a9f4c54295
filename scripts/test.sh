#!/usr/bin/env bash
# Builds the tests, then runs them in a private environment; arguments go to both steps.
# SPS_SOAK=1 runs the long tests alone, FILTER the tests that match; CI=true forbids skips.
set -euo pipefail
cd "$(dirname "$0")/.."

read -r -a flags <<<"${SWIFT_FLAGS:-}"
swift build --build-tests "${flags[@]}" "$@"

assignments=$(scripts/vectors.sh)
eval "$assignments"

selection=(--skip Soak)
[[ -z ${SPS_SOAK:-} ]] || selection=(--filter Soak)
# A sanitizer's own threads don't survive fork(2), mlock(2) does nothing under it, its shadow memory
# makes a search of memory endless, and a writer is too slow for a power cut in time; published vectors
# show nothing new there and take many times as long.
[[ -z ${SPS_SANITIZER:-} ]] || selection+=(
  --skip 'ForkTests|ForkedSealTests|NonceTests|NoncePoolTests|KeyPageTests|WipeTests'
  --skip 'MemoryLockLimitTests|PowerCutTests'
  --skip 'aHandlerMayUseTheStorageThatIsBeingMade'  # which lowers the limit of mlock(2)
  --skip 'CAVP|Wycheproof|RFCVector|XAES')
[[ -z ${FILTER:-} ]] || selection=(--filter "$FILTER")

log=$(mktemp)
trap 'rm -f "$log"' EXIT
scripts/private-env.sh swift test --skip-build --disable-xctest \
  "${flags[@]}" "$@" "${selection[@]}" 2>&1 | tee "$log"

if ! grep -Eq 'Test run with [1-9][0-9]* tests? ' "$log"; then
  echo "test: no test was run" >&2
  exit 1
fi
if [[ ${CI:-} == true ]] && grep -E '➜ (Suite|Test) .+ (skipped[.:]|was cancelled)' "$log" >&2; then
  echo "test: the tests above were skipped, which CI forbids" >&2
  exit 1
fi
