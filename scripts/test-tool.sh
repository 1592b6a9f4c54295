#!/usr/bin/env bash
# Builds securestore and runs its tests: as a child process, and in a terminal.
set -euo pipefail
cd "$(dirname "$0")/.."
package=Tools/securestore

read -r -a flags <<<"${SWIFT_FLAGS:-}"
swift build --build-tests --package-path "$package" "${flags[@]}"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
scripts/private-env.sh swift test --skip-build --disable-xctest \
  --package-path "$package" "${flags[@]}" 2>&1 | tee "$log"
if ! grep -Eq 'Test run with [1-9][0-9]* tests? ' "$log"; then
  echo "test-tool: no test was run" >&2
  exit 1
fi
if [[ ${CI:-} == true ]] && grep -E '➜ (Suite|Test) .+ (skipped[.:]|was cancelled)' "$log" >&2; then
  echo "test-tool: the tests above were skipped, which CI forbids" >&2
  exit 1
fi

program=$(swift build --package-path "$package" "${flags[@]}" --show-bin-path)/securestore
scripts/private-env.sh "$package/Tests/terminal.sh" "$program"
