#!/usr/bin/env bash
# Runs tests that are built, in a private environment. Usage: checked-tests.sh PROGRAM [ARGUMENT...], which go to
# Swift Testing. Fails when none was run or, where CI=true, when one was skipped, and after SPS_TEST_LIMIT=1800
# seconds, when it says what has not ended. What failed is said again at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$1
shift

# A thousand tests at once have more files and sockets open than the 1,024 that a user may have by default.
hard=$(ulimit -Hn)
[[ $hard != unlimited ]] && ((hard < 16384)) || hard=16384
soft=$(ulimit -Sn)
[[ $soft == unlimited ]] || ((soft >= hard)) || ulimit -Sn "$hard"

log=$(mktemp)
# In the foreground timeout(1) stays in this process group, and ends with it.
trap 'rm -f "$log"' EXIT
result=0
SPS_CHECK_LEFTOVERS=1 scripts/private-env.sh timeout --foreground --kill-after 10 "${SPS_TEST_LIMIT:-1800}" \
  "$program" --testing-library swift-testing "$@" 2>&1 |
  sed -u 's/\x1b\[[0-9;]*m//g' | tee "$log" || result=$?  # Swift Testing colours for a pipe, too

if ((result != 0)); then
  {
    printf '\ntest: failed; the lines that say so, again:\n'
    # An issue's comment, in lines of its own, follows it. What a library reports has "error: " in it, too.
    grep -a -E -A 4 '^✘ |^private-env: |Fatal error|^error: |: error: ' "$log" | cut -c 1-600 | tail -200
    # Where a test ended the process: the thread that crashed, and who called.
    grep -a -E -A 60 'Program crashed|Thread .* crashed:' "$log" | cut -c 1-300 | tail -150
    # 124 is what timeout(1) gives.
    ((result != 124)) || awk '
      $2 == "Test" && / started\.$/ { running[$3]++ }
      $2 == "Test" && / (passed|failed) after / { running[$3]-- }
      END { for (test in running) if (running[test] > 0) print "test: it has not ended: " test }' "$log"
  } | tee -a "${SPS_FAILURES:-/dev/null}" >&2
  exit "$result"
fi
if ! grep -Eq 'Test run with [1-9][0-9]* tests? ' "$log"; then
  echo "test: no test was run" >&2
  exit 1
fi
if [[ ${CI:-} == true ]] && grep -E '➜ (Suite|Test) .+ (skipped[.:]|was cancelled)' "$log" >&2; then
  echo "test: the tests above were skipped, which CI forbids" | tee -a "${SPS_FAILURES:-/dev/null}" >&2
  exit 1
fi
