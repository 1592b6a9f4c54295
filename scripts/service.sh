#!/usr/bin/env bash
# Builds the example service and looks at it from outside.
# Usage: scripts/service.sh test   its tests, and what its real process does: starts that fail, keys that are
#                                  rotated while it serves, kills during a rotation, a full disk, three
#                                  instances over one store in etcd, and in PostgreSQL
#        scripts/service.sh load   a release build under load for SPS_LOAD_SECONDS=30 while keys rotate: no
#                                  failed request, and the store takes at most 10 % of the processor time
set -euo pipefail
cd "$(dirname "$0")/.."
package=Examples/TokenService

read -r -a flags <<<"${SWIFT_FLAGS:-}"
case ${1:-test} in
  test)
    swift build --build-tests --package-path "$package" "${flags[@]}"
    bin=$(swift build --package-path "$package" "${flags[@]}" --show-bin-path)
    scripts/checked-tests.sh "$bin/token-servicePackageTests.xctest"
    program=$bin/token-service
    scripts/private-env.sh bash "$package/Tests/process.sh" "$program"
    for engine in etcd postgres; do
      scripts/private-env.sh bash "$package/Tests/fleet.sh" "$program" "$engine"
    done
    ;;
  load)
    swift build -c release --package-path "$package" --product token-service
    program=$(swift build -c release --package-path "$package" --show-bin-path)/token-service
    scripts/private-env.sh bash "$package/Tests/load.sh" "$program"
    ;;
  *)
    echo "usage: $0 test | load" >&2
    exit 64
    ;;
esac
