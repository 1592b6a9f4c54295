#!/usr/bin/env bash
# Builds the examples and the README's programs as the user, then runs each in a private environment of its own.
# Building first keeps the package manager's own caches and settings in use.
set -euo pipefail
cd "$(dirname "$0")/.."

read -r -a flags <<<"${SWIFT_FLAGS:-}"
swift build --build-tests --package-path Examples "${flags[@]}"
# They are programs with the default traits.
[[ ! -e Examples/Package.resolved ]] || { echo "demo: the examples resolve packages" >&2; exit 1; }
echo "demo: no package was resolved beside this one"
SPS_TOOL=1 swift build --product securestore "${flags[@]}"
scripts/readme.sh
scripts/private-env.sh bash Examples/run-demo.sh
scripts/private-env.sh bash Examples/run-vault-demo.sh
scripts/private-env.sh bash Examples/run-live-demo.sh
scripts/private-env.sh bash Examples/run-files-demo.sh
scripts/private-env.sh bash Examples/run-audit-demo.sh
scripts/private-env.sh bash Examples/run-desktop-demo.sh
scripts/private-env.sh bash Examples/run-injection-demo.sh
scripts/private-env.sh bash Examples/run-fleet-demo.sh
