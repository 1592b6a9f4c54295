#!/usr/bin/env bash
# Resolves the dependency as README.md says it, against a copy of what is committed here: a version that
# has no tag, or a branch that is not there, is what the first user would meet.
set -euo pipefail
repository=$(realpath "$(dirname "$0")/..")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The tags as they are, and this commit as the main branch, whatever it is called here.
git clone --quiet --bare "$repository" "$work/SecurePropertyStorage"
git -C "$work/SecurePropertyStorage" update-ref refs/heads/main \
  "$(git -C "$repository" rev-parse HEAD)"

line=$(grep -oP '^\.package\(url: .*\)(?= )' "$repository/README.md" | head -1)
[[ $line == *'"<the URL of this repository>"'* ]] ||
  { echo "readme: README.md has no line .package(url: \"<the URL of this repository>\", ...)" >&2; exit 1; }
line=${line/<the URL of this repository>/file:\/\/$work\/SecurePropertyStorage}

mkdir -p "$work/client/Sources/client"
echo 'print("it resolves")' >"$work/client/Sources/client/main.swift"
cat >"$work/client/Package.swift" <<SWIFT
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "client",
  dependencies: [$line],
  targets: [
    .executableTarget(
      name: "client",
      dependencies: [
        .product(name: "SecurePropertyStorage", package: "SecurePropertyStorage")
      ])
  ]
)
SWIFT
# A cache of its own: SwiftPM keeps repositories by their address.
swift package --package-path "$work/client" --cache-path "$work/cache" resolve >"$work/log" 2>&1 ||
  { cat "$work/log" >&2; echo "readme: the dependency of README.md does not resolve: $line" >&2; exit 1; }
echo "readme: its dependency resolves"
