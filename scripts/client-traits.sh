#!/usr/bin/env bash
# Builds a program with `traits: []` where libsecret's headers are hidden, as on a machine that has none,
# there also one that uses the product VaultBackend alone, whatever the traits and without Foundation, and
# securestore without its keyring; and then one with the default traits, where it has the keyring. A program with the default traits
# resolves no package at all.
# Usage: scripts/client-traits.sh [measure]   with measure, prints what each trait adds to a program instead
set -euo pipefail
repository=$(realpath "$(dirname "$0")/..")

fail() {
  echo "traits: $*" >&2
  exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
client=$work/client
mkdir -p "$client/Sources/client" "$work/empty" "$work/pkgconfig"

# Writes the client's package, of a product, with what is said of the traits.
write_package() {
  cat >"$client/Package.swift" <<SWIFT
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "client",
  dependencies: [.package(name: "SecurePropertyStorage", path: "$repository"${2:-})],
  targets: [
    .executableTarget(
      name: "client",
      dependencies: [.product(name: "$1", package: "SecurePropertyStorage")])
  ]
)
SWIFT
}

# Writes a program that uses a product by a property wrapper.
write_program() {
  cat >"$client/Sources/client/main.swift" <<SWIFT
import $1

struct Settings {
  @$2("x") var x: String?
}

let settings = Settings()
settings.x = "it works"
print(settings.x ?? "nothing was stored")
SWIFT
}

# Runs a command where libsecret's headers and its pkg-config files are not there: in a namespace of
# mounts of its own, unshare(1), so that nobody else misses them.
without_headers() {
  local namespace=(unshare --mount --propagation private) headers files
  [[ $(id -u) -eq 0 ]] || namespace=(unshare --map-root-user --mount --propagation private)
  headers=$(pkg-config --variable=includedir libsecret-1)/libsecret-1
  files=$(pkg-config --variable=pcfiledir libsecret-1)
  cp "$files"/*.pc "$work/pkgconfig"
  rm "$work"/pkgconfig/libsecret*.pc
  # shellcheck disable=SC2016  # the inner shell expands its own arguments
  "${namespace[@]}" bash -euc '
    mount --bind "$1" "$2"
    mount --bind "$3" "$4"
    ! pkg-config --exists libsecret-1
    [[ ! -e $2/libsecret/secret.h ]]
    shift 4
    "$@"' - "$work/empty" "$headers" "$work/pkgconfig" "$files" "$@"
}

build() { swift build --package-path "$client"; }

# Builds the client without the headers, and sees that it works and is linked with none of it.
check_without_headers() {
  without_headers swift build --package-path "$client" >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; fail "$1 does not build without libsecret"; }
  # The package manager looks for the pkg-config file of every system library, used or not, and says so:
  # docs/decisions.md. Nothing else may be said of it.
  if grep -iE 'libsecret|warning' "$work/log" |
    grep -vE 'you may be able to install libsecret-1|apt-get install libsecret-1-dev' >&2; then
    fail "$1 is warned of the above"
  fi
  program=$(swift build --package-path "$client" --show-bin-path 2>/dev/null)/client
  [[ $("$repository/scripts/private-env.sh" "$program") == "it works" ]] || fail "$1 does not work"
  if ldd "$program" | grep -E 'libsecret|libgio'; then fail "$1 is linked with the above"; fi
}

# How many packages the client has resolved.
packages() { grep -c '"identity"' "$client/Package.resolved" 2>/dev/null || true; }

# What a trait adds to a program: its packages, the time of the build in one folder after the other, the size.
measure() {
  local title=$1 product=$2 trait=$3 start=$SECONDS
  write_package "$product" "${trait:+, traits: [\"$trait\"]}"
  printf 'import %s\n\nprint("it works")\n' "$product" >"$client/Sources/client/main.swift"
  rm -rf "$client/.build" "$client/Package.resolved"
  build >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "a client of $product does not build"; }
  program=$(swift build --package-path "$client" --show-bin-path 2>/dev/null)/client
  [[ $("$program") == "it works" ]] || fail "a client of $product does not work"
  printf 'traits: %-40s %2d packages, built in %3d s, %3d MiB with debug information\n' \
    "$title" "$(($(packages)))" $((SECONDS - start)) $(($(stat -c %s "$program") >> 20))
}

if [[ ${1:-} == measure ]]; then
  measure "VaultBackend, no trait" VaultBackend ""
  measure "SecureConfiguration, Configuration" SecureConfiguration Configuration
  [[ -e $client/Package.resolved ]] || fail "the trait Configuration resolves nothing"
  measure "SecureService, Server" SecureService Server
  [[ -e $client/Package.resolved ]] || fail "the trait Server resolves nothing"
  exit
fi

write_package SecurePropertyStorage ', traits: []'
write_program SecurePropertyStorage Singleton
check_without_headers "a client without the trait"

echo 'let keychain = KeychainStorage.self' >"$client/Sources/client/keychain.swift"
sed -i '1i import SecurePropertyStorage\n' "$client/Sources/client/keychain.swift"
if build >"$work/log" 2>&1; then fail "without the trait, there is a KeychainStorage"; fi
grep -q "cannot find 'KeychainStorage' in scope" "$work/log" ||
  { cat "$work/log" >&2; fail "the client fails for another reason"; }

# The tool, in a folder of its own: that of the repository is built with the keyring.
tool=(swift build --package-path "$repository/Tools/securestore" --scratch-path "$work/tool"
  --product securestore --disable-default-traits)
without_headers "${tool[@]}" >"$work/log" 2>&1 ||
  { cat "$work/log" >&2; fail "securestore does not build without libsecret"; }
securestore=$("${tool[@]}" --show-bin-path 2>/dev/null)/securestore
if ldd "$securestore" | grep -E 'libsecret|libgio'; then fail "securestore is linked with the above"; fi
# shellcheck disable=SC2016  # the inner shell expands its own arguments
"$repository/scripts/private-env.sh" bash -euc '
  "$0" -q init --app com.example.tool
  echo x | "$0" -q set A --app com.example.tool
  [[ $("$0" get A --app com.example.tool) == x ]]
  "$0" doctor --app com.example.tool | grep -q "built without the keyring"
  code=0
  "$0" init --vault "$HOME/b.vault" --key keyring:x 2>"$HOME/said" || code=$?
  [[ $code == 18 && ! -e $HOME/b.vault ]]
  grep -q "built without the keyring" "$HOME/said"' "$securestore" ||
  fail "securestore without the keyring does not do its work"

rm "$client/Sources/client/keychain.swift"
write_package VaultBackend
write_program VaultBackend Vault
check_without_headers "a client of VaultBackend alone"
# All of Foundation adds 45 MB to a program that is linked statically: docs/decisions.md.
if ldd "$program" | grep -E 'libFoundation\.so|FoundationInternationalization|FoundationICU'; then
  fail "a client of VaultBackend alone is linked with the above"
fi

# Stores an object of Foundation and an NSNumber within [Any], and reads what is stored, in a program with a
# module; says how it went.
objects() {
  write_package "$1" ', traits: []'
  cat >"$client/Sources/client/main.swift" <<SWIFT
import Foundation
import $1

let values: [(String, Any)] = [("object", NSString("a-secret")), ("list", [NSNumber(value: 1)])]
for (key, value) in values {
  do {
    if CommandLine.arguments.count == 1 { try VaultStorage.standard.save(value, forKey: key) }
    print(key, try VaultStorage.standard.object(forKey: key) != nil)
    if key == "object" { _ = try VaultStorage.standard.load(NSString.self, forKey: key) }
  } catch let error as StorageError {
    print(key, error.code, error.message.contains("product StorageFoundation"))
  }
}
SWIFT
  build >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "a client of $1 with objects does not build"; }
}
objects SecurePropertyStorage
# The name of the program names the vault.
mkdir "$work/umbrella"
cp "$program" "$work/umbrella/client"
objects VaultBackend
# shellcheck disable=SC2016  # the inner shell expands its own arguments
"$repository/scripts/private-env.sh" bash -euc '
  refused=$(printf "%s unsupported true\n" object list)
  [[ $("$1") == "$refused" ]] || { echo "without StorageFoundation, objects are stored" >&2; exit 1; }
  said=$("$0")
  [[ $said == "$(printf "%s true\n" object list)" ]] || { echo "with it: $said" >&2; exit 1; }
  said=$("$1" read)
  [[ $said == "$(printf "object unsupported true\nlist true")" ]] ||
    { echo "without StorageFoundation, objects are read: $said" >&2; exit 1; }' \
  "$work/umbrella/client" "$program" || fail "objects of Foundation are not stored as they should be"

echo 'let keychain = KeychainStorage.self' >"$client/Sources/client/keychain.swift"
sed -i '1i import SecurePropertyStorage\n' "$client/Sources/client/keychain.swift"
write_package SecurePropertyStorage
write_program SecurePropertyStorage Singleton
build >"$work/log" 2>&1 ||
  { cat "$work/log" >&2; fail "with the default traits, a client has no KeychainStorage"; }
[[ $("$repository/scripts/private-env.sh" "$program") == "it works" ]] ||
  fail "the client that was built with the default traits does not work"
[[ ! -e $client/Package.resolved ]] ||
  fail "a client with the default traits resolves $(packages) packages"

echo "traits: a client and securestore build without libsecret's headers, and with them have the keyring ($SECONDS s)"
