#!/usr/bin/env bash
# Runs tests that are built, in a private environment; the arguments go to `swift test`. Fails when
# none was run or, where CI=true, when one was skipped. What failed is said again at the end.
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
result=0
SPS_CHECK_LEFTOVERS=1 scripts/private-env.sh swift test --skip-build --disable-xctest "$@" 2>&1 | tee "$log" || result=$?

if ((result != 0)); then
  {
    printf '\ntest: failed; the lines that say so, again:\n'
    # An issue's comment, in lines of its own, follows it.
    grep -a -E -A 4 '^✘ |^private-env: |Fatal error|error: ' "$log" | cut -c 1-600 | tail -200
    # Where a test ended the process: the thread that crashed, and who called.
    grep -a -E -A 60 'Program crashed|Thread .* crashed:' "$log" | cut -c 1-300 | tail -150
  } | tee -a "${SPS_FAILURES:-/dev/null}" >&2
  exit "$result"
fi
if ! grep -Eq 'Test run with [1-9][0-9]* tests? ' "$log"; then
  echo "test: no test was run" >&2
  exit 1
fi
# All suites of a part run at once, so that the time of a suite also counts what it waited for others.
printf '\ntest: the slowest suites of this part, which took %d s:\n' "$SECONDS"
sed -nE 's/^[^ ]+ Suite (.+) (passed|failed) after ([0-9.]+) seconds.*/\3 s  \1/p' "$log" |
  sort -rn | head -10 | sed 's/^/  /'
if [[ ${CI:-} == true ]] && grep -E '➜ (Suite|Test) .+ (skipped[.:]|was cancelled)' "$log" >&2; then
  echo "test: the tests above were skipped, which CI forbids" >&2
  exit 1
fi
