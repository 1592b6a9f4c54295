#!/usr/bin/env bash
# Builds securestore and runs its tests: as a child process, in a terminal, and installed.
set -euo pipefail
cd "$(dirname "$0")/.."
package=Tools/securestore

read -r -a flags <<<"${SWIFT_FLAGS:-}"
# In a folder that it shares with the examples, which use the library with the same traits.
flags+=(--package-path "$package" --scratch-path .build-programs)
swift build --build-tests "${flags[@]}"

scripts/checked-tests.sh "${flags[@]}"

program=$(swift build "${flags[@]}" --show-bin-path)/securestore
scripts/private-env.sh "$package/Tests/terminal.sh" "$program"
scripts/private-env.sh "$package/Tests/install.sh" "$program"
scripts/private-env.sh "$package/Tests/deps.sh"
