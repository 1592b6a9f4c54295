#!/usr/bin/env bash
# The demo of injection: a program that is put together in one place sells twice, its mistakes are shown,
# and its tests run with doubles. Runs in the private environment that scripts/private-env.sh makes.
set -euo pipefail
cd "$(dirname "$0")"

cashier=$(swift build --show-bin-path)/Cashier
step() { printf '\n== %s\n' "$1"; }

step "A program whose storages and clients are injected sells twice"
"$cashier" sell

step "What is printed when nothing is registered, too much is, or builders need each other"
mistakes=$("$cashier" mistakes)
echo "$mistakes"
# The README and the guide show the same.
while IFS= read -r line; do
  for document in README.md docs/injection.md; do
    grep -qxF -- "    $line" "../$document" || [[ -z $line ]] || {
      echo "$document does not show: $line" >&2
      exit 1
    }
  done
done <<<"$mistakes"

step "Its tests give each test storages and clients of its own"
swift test --skip-build --disable-xctest 2>&1 | grep -E 'Test (run|.*(passed|failed))|Suite .*(passed|failed)'
