#!/usr/bin/env bash
# Builds a service and its tests as a user of the package writes them, and looks at what they leave and say:
# tests with storages of their own, errors that repeat, a schema that changed, a late bootstrap, a strict test.
set -euo pipefail
repository=$(realpath "$(dirname "$0")/..")

fail() {
  echo "client-tests: $*" >&2
  [[ ! -f $work/log ]] || tail -60 "$work/log" >&2
  exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
client=$work/client
# A name of its own: scripts/one-code-base.sh builds on in the client's folder.
linux=$work/client/securepropertystorage-linux
mkdir -p "$client"
ln -s "$repository" "$linux"
mkdir -p "$client/Sources/Service" "$client/Sources/program" "$client/Tests/ServiceTests"

cat >"$client/Package.swift" <<SWIFT
// swift-tools-version: 6.2
import PackageDescription

let library = Target.Dependency.product(
  name: "SecurePropertyStorage", package: "SecurePropertyStorage")
let package = Package(
  name: "client",
  dependencies: [.package(name: "SecurePropertyStorage", path: "$linux", traits: [])],
  targets: [
    .target(name: "Service", dependencies: [library]),
    .executableTarget(name: "program", dependencies: ["Service", library]),
    .testTarget(
      name: "ServiceTests",
      dependencies: [
        "Service", library,
        .product(name: "StorageTesting", package: "SecurePropertyStorage"),
        .product(name: "InjectTesting", package: "SecurePropertyStorage"),
      ]),
  ]
)
SWIFT

cat >"$client/Sources/Service/Settings.swift" <<'SWIFT'
import SecurePropertyStorage

public struct Settings: Sendable {
  @UnwrappedVault("launches") public var launches = 0
  @UserDefault("theme") public var theme: String?
  public static let shared = Settings()
  public init() {}
  public func launch() throws -> Int { try $launches.update { $0 += 1; return $0 } }
}
SWIFT

cat >"$client/Sources/program/main.swift" <<'SWIFT'
import SecurePropertyStorage
import Service

struct V1: Codable { struct Contact: Codable { var phone = "a-secret-value" }; var contact = Contact() }
struct V2: Codable { struct Contact: Codable { var email: String }; var contact: Contact }

switch CommandLine.arguments.dropFirst().first {
case "store":
  _ = try Settings().launch()
  try VaultStorage.standard.save(V1(), forKey: "account")
case "read":  // with a key that is not the vault's
  let settings = Settings()
  for _ in 0..<60_000 { _ = settings.launches }
case "schema": print(CodableVault<V2>("account").state)
case "bootstrap":
  _ = Settings().theme
  SecureStorage.bootstrap(applicationID: "late")
default: print("what?")
}
SWIFT

cat >"$client/Tests/ServiceTests/Tests.swift" <<'SWIFT'
import InjectTesting
import SecurePropertyStorage
import Service
import StorageTesting
import Testing
import XCTest

@Suite(.storage()) struct InMemory {
  @Test(arguments: 0..<50) func launches(_ number: Int) throws {
    #expect(try Settings().launch() == 1)
    #expect(try Settings.shared.launch() == 2)
  }
}

@Suite(.storage(.temporaryFolder)) struct InAFolder {
  @Test(arguments: 0..<4) func launches(_ number: Int) throws {
    #expect(try Settings().launch() == 1)
    #expect(try Settings.shared.launch() == 2)
    #expect(try VaultStorage.standard.verify().isSound)
  }
}

final class CaseTests: StorageTestCase {
  func testOne() throws { XCTAssertEqual(try Settings().launch(), 1) }
  func testTwo() async throws { XCTAssertEqual(try Settings.shared.launch(), 1) }
}

@Suite struct Real {
  @Test func launches() throws { for _ in 0..<3 { _ = try Settings().launch() } }
}

protocol API: Sendable {}

@Suite(.injecting(.strict)) struct Strict {
  @UnwrappedInject private var api: any API
  init() throws { _ = try $api.resolve() }
  @Test func usesWhatNobodyRegistered() { _ = api }
  @Test func another() {}
}
SWIFT

swift build --build-tests --package-path "$client" >"$work/log" 2>&1 || fail "the client does not build"
bin=$(swift build --package-path "$client" --show-bin-path 2>/dev/null)
# A home of its own that the package does not know to be there for tests: what is written, is seen.
mkdir "$work/home"
in_home() {
  env -u SPS_PRIVATE_ENVIRONMENT -u XDG_DATA_HOME -u XDG_CONFIG_HOME -u XDG_STATE_HOME -u XDG_CACHE_HOME \
    -u STATE_DIRECTORY -u CREDENTIALS_DIRECTORY HOME="$work/home" TMPDIR="$work/tmp" "$@"
}
mkdir "$work/tmp"
run_tests() {
  in_home swift test --skip-build --package-path "$client" --cache-path "$work/cache" \
    --filter "$1" >"$work/log" 2>&1
}
data() { find "$work/home" \( -name '*.vault' -o -name '*.secure.plist' -o -name 'master.key' \); }

for suite in InMemory InAFolder CaseTests; do
  run_tests "ServiceTests.$suite" || fail "the tests of $suite fail"
  [[ -z $(data) ]] || fail "$suite wrote into the home folder: $(data)"
  [[ -z $(find "$work/tmp" -name 'SecurePropertyStorage-*') ]] || fail "$suite left a folder"
  ! grep -q 'use the real data' "$work/log" || fail "$suite is said to use real data"
done
run_tests ServiceTests.Real || fail "the test without a trait fails"
[[ $(grep -c 'these tests use the real data of' "$work/log") -eq 1 ]] || fail "real data is used unsaid"
if run_tests ServiceTests.Strict; then fail "a strict test passes without its registration"; fi
grep -q 'Test run with 2 tests' "$work/log" || fail "a forgotten registration ends the process"

rm -rf "$work/home/.local" "$work/home/.config"
in_home "$bin/program" store
in_home "$bin/program" schema >"$work/log"
grep -q 'the key "contact.email" is missing' "$work/log" || fail "a missing key is not named"
! grep -q 'a-secret-value' "$work/log" || fail "a value is said"
openssl rand -base64 32 >"$work/home/.local/share/program/master.key"
in_home "$bin/program" read 2>"$work/log"
[[ $(wc -l <"$work/log") -eq 2 ]] || fail "60,000 reads with a wrong key are $(wc -l <"$work/log") lines"
grep -q '59999 more times' "$work/log" || fail "nobody counted the reads with a wrong key"
if in_home "$bin/program" bootstrap 2>"$work/log"; then fail "a late bootstrap goes on"; fi
grep -q 'the property "theme" at Service/Settings.swift:5 was used' "$work/log" ||
  fail "a late bootstrap does not say what came before it"
echo "client-tests: what a user's tests leave and say is as it should be ($SECONDS s)"
"$repository/scripts/one-code-base.sh" "$client/.build"
