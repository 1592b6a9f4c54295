// swift-tools-version: 6.2
import PackageDescription

// What users of the package write. scripts/client.sh builds a copy of it, and looks at what it leaves and says.
let umbrella = Target.Dependency.product(
  name: "SecurePropertyStorage", package: "SecurePropertyStorage")
let vault = Target.Dependency.product(name: "VaultBackend", package: "SecurePropertyStorage")
let package = Package(
  name: "client",
  dependencies: [.package(name: "SecurePropertyStorage", path: "../..", traits: [])],
  targets: [
    .target(name: "Service", dependencies: [umbrella]),
    .executableTarget(name: "program", dependencies: ["Service", umbrella]),
    .executableTarget(name: "reader", dependencies: [vault]),
    // The same source over the umbrella and over VaultBackend alone.
    .executableTarget(
      name: "objects", dependencies: [umbrella], swiftSettings: [.define("UMBRELLA")]),
    .executableTarget(name: "alone", dependencies: [vault]),
    .testTarget(
      name: "ServiceTests",
      dependencies: [
        "Service", umbrella,
        .product(name: "StorageTesting", package: "SecurePropertyStorage"),
        .product(name: "InjectTesting", package: "SecurePropertyStorage"),
      ]),
  ]
)
