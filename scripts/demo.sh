#!/usr/bin/env bash
# Builds the examples as the user, then runs Examples/run-demo.sh in a private environment.
# Building first keeps the package manager's own caches and settings in use.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ -f Examples/Package.swift ]]; then
  swift build --package-path Examples
fi
scripts/private-env.sh bash Examples/run-demo.sh
