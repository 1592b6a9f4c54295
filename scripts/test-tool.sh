#!/usr/bin/env bash
# Builds securestore and runs its tests: as a child process, in a terminal, and installed.
set -euo pipefail
cd "$(dirname "$0")/.."
package=Tools/securestore

read -r -a flags <<<"${SWIFT_FLAGS:-}"
swift build --build-tests --package-path "$package" "${flags[@]}"

scripts/checked-tests.sh --package-path "$package" "${flags[@]}"

program=$(swift build --package-path "$package" "${flags[@]}" --show-bin-path)/securestore
scripts/private-env.sh "$package/Tests/terminal.sh" "$program"
scripts/private-env.sh "$package/Tests/install.sh" "$program"
scripts/private-env.sh "$package/Tests/etcd.sh" "$program"
scripts/private-env.sh "$package/Tests/deps.sh"
