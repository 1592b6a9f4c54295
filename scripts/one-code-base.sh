#!/usr/bin/env bash
# Resolves and builds a package that stores with the Apple package on Apple's platforms and with this one on
# Linux, runs its tests, and compiles the side of Apple's platforms, too, over a stand-in for the Apple package.
# Usage: scripts/one-code-base.sh [FOLDER]   builds in a folder where a client of this package was built
set -euo pipefail
repository=$(realpath "$(dirname "$0")/..")

fail() {
  echo "one-code-base: $*" >&2
  [[ ! -f $work/log ]] || tail -60 "$work/log" >&2
  exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
scratch=${1:-$work/build}

# As a user has it: the Apple package under its own name, and this one in a folder of another name.
cp -r "$repository/Examples/ModelLayer" "$work/ModelLayer"
mv "$work/ModelLayer/AppleStandIn/SecurePropertyStorage" "$work/SecurePropertyStorage"
linux=$repository
[[ -z ${1:-} ]] || linux=$(realpath -s -m "$1/../securepropertystorage-linux")
[[ -e $linux && $(basename "$linux") != SecurePropertyStorage ]] || {
  linux=$work/securepropertystorage-linux
  ln -s "$repository" "$linux"
}
sed -i -e "s|path: \"../..\"|path: \"$linux\"|" \
  -e 's|path: "AppleStandIn/SecurePropertyStorage"|path: "../SecurePropertyStorage"|' \
  "$work/ModelLayer/Package.swift"
# Compiling any of it on Linux is an error.
for file in "$work"/SecurePropertyStorage/Sources/*/*.swift; do
  printf '#if os(Linux)\n  #error("this is compiled on Linux")\n#endif\n' >>"$file"
done

build=(swift build --package-path "$work/ModelLayer" --scratch-path "$scratch")
"${build[@]}" --build-tests >"$work/log" 2>&1 || fail "the model does not build on Linux"
"$repository/scripts/private-env.sh" swift test --skip-build --package-path "$work/ModelLayer" \
  --scratch-path "$scratch" >"$work/log" 2>&1 || fail "the tests of the model fail"
grep -q 'Test run with 3 tests' "$work/log" || fail "the tests of the model did not run"

server=$("${build[@]}" --show-bin-path 2>/dev/null)/Server
# shellcheck disable=SC2016  # the inner shell expands its own arguments
"$repository/scripts/private-env.sh" bash -euc '
  [[ $("$0") == "signed out, started 1 times" ]]
  [[ $(echo rt-5f1c8e | "$0" sign-in) == "Ada, plan team, started 2 times" ]]
  [[ $("$0") == "Ada, plan team, started 3 times" ]]
  ! grep -rq rt-5f1c8e "$HOME"
  [[ $("$0" sign-out) == "signed out, started 4 times" ]]' "$server" ||
  fail "the server does not do its work"

# The other side: the same sources, with the platforms changed places.
mkdir "$work/apple"
cp -r "$repository/Examples/ModelLayer/." "$work/apple"
sed -i 's/\[\.macOS, /[.linux, /; s/platforms: \[\.linux\])/platforms: [.windows])/' "$work/apple/Package.swift"
sed -i "s|path: \"../..\"|path: \"$linux\"|" "$work/apple/Package.swift"
sed -i 's/os(Linux)/os(Windows)/' "$work"/apple/Sources/*/*.swift "$work"/apple/Tests/*/*.swift
swift build --package-path "$work/apple" >"$work/log" 2>&1 ||
  fail "the model does not build over the stand-in for the Apple package"
apple=$(swift build --package-path "$work/apple" --show-bin-path 2>/dev/null)/Server
[[ $(echo token | "$apple" sign-in) == "Ada, plan team, started 1 times" ]] ||
  fail "the model does not work over the stand-in for the Apple package"

# What the guide says of two packages with one identity.
ln -s "$repository" "$work/apple/SecurePropertyStorage"
sed -i "s|path: \"$linux\"|path: \"SecurePropertyStorage\"|" "$work/apple/Package.swift"
sed -i 's/, traits: \[\])/)/' "$work/apple/Package.swift"
if swift build --package-path "$work/apple" >"$work/log" 2>&1; then
  fail "two packages of one identity are resolved"
fi
grep -qi 'conflicting identity for securepropertystorage' "$work/log" ||
  fail "two packages of one identity are refused in other words"
echo "one-code-base: one model builds and works over both packages ($SECONDS s)"
