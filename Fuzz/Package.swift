// swift-tools-version: 6.2
import PackageDescription

// A package of its own: it needs libFuzzer, and a build of the library that counts its branches.
let package = Package(
  name: "Fuzz",
  products: [.executable(name: "fuzz", targets: ["fuzz"])],
  dependencies: [.package(name: "SecurePropertyStorage", path: "..")],
  targets: [
    .target(name: "CLibFuzzer"),
    .executableTarget(
      name: "fuzz",
      dependencies: [
        "CLibFuzzer",
        .product(name: "CryptoCore", package: "SecurePropertyStorage"),
        .product(name: "StorageCore", package: "SecurePropertyStorage"),
        .product(name: "SingletonBackend", package: "SecurePropertyStorage"),
        .product(name: "DefaultsBackend", package: "SecurePropertyStorage"),
        .product(name: "VaultBackend", package: "SecurePropertyStorage"),
        .product(name: "FileBackend", package: "SecurePropertyStorage"),
        .product(name: "LocalData", package: "SecurePropertyStorage"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .strictMemorySafety(),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
