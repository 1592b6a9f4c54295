#!/usr/bin/env bash
# Builds the examples as the user, then runs Examples/run-demo.sh in a private environment.
# Building first keeps the package manager's own caches and settings in use.
set -euo pipefail
cd "$(dirname "$0")/.."

swift build --package-path Examples
read -r -a flags <<<"${SWIFT_FLAGS:-}"
swift build --package-path Tools/securestore "${flags[@]}"
scripts/private-env.sh bash Examples/run-demo.sh
scripts/private-env.sh bash Examples/run-vault-demo.sh
