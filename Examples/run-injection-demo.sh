#!/usr/bin/env bash
# The demo of injection: a program that is composed in one place sells twice, its mistakes are shown, and its
# tests run with doubles. Runs in the private environment that scripts/private-env.sh creates.
set -euo pipefail
cd "$(dirname "$0")"

read -r -a flags <<<"${SWIFT_FLAGS:-}"
cashier=$(swift build "${flags[@]}" --show-bin-path)/Cashier
step() { printf '\n== %s\n' "$1"; }

step "A program whose storages and clients are injected sells twice"
"$cashier" sell

step "The messages when nothing is registered, something is registered twice, or builders need each other"
mistakes=$("$cashier" mistakes)
echo "$mistakes"
# The guide shows all of these lines. If the README shows any, they must be among them.
while IFS= read -r line; do
  grep -qxF -- "    $line" ../docs/injection.md || [[ -z $line ]] || {
    echo "docs/injection.md does not show: $line" >&2
    exit 1
  }
done <<<"$mistakes"
while IFS= read -r line; do
  grep -qxF -- "${line#    }" <<<"$mistakes" || {
      echo "README.md shows a line that is not printed: $line" >&2
    exit 1
  }
done < <(sed -n '/^## Injection/,/^## /p' ../README.md | grep '^    ')

step "Each test uses its own storages and clients"
swift test "${flags[@]}" --skip-build --disable-xctest 2>&1 | grep -E 'Test (run|.*(passed|failed))|Suite .*(passed|failed)'
