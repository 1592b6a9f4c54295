// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of the library resolve none of what it depends on.
let package = Package(
  name: "Benchmarks",
  products: [.executable(name: "bench", targets: ["bench"])],
  dependencies: [
    .package(name: "SecurePropertyStorage", path: ".."),
    // A peer to measure beside us.
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
  ],
  targets: [
    .target(name: "CFloor", linkerSettings: [.linkedLibrary("crypto")]),
    .target(name: "CAllocations"),
    // It opens the libraries that it compares by itself, by dlopen(3).
    .target(name: "CPeers"),
    .target(name: "CPostgresPeer"),
    .target(name: "CEtcd"),
    .target(
      name: "CKeyring",
      linkerSettings: [
        .linkedLibrary("secret-1"), .linkedLibrary("gobject-2.0"), .linkedLibrary("glib-2.0"),
      ]),
    .executableTarget(
      name: "bench",
      dependencies: [
        "CFloor", "CAllocations", "CPeers", "CKeyring", "CEtcd", "CPostgresPeer",
        .product(name: "CryptoCore", package: "SecurePropertyStorage"),
        .product(name: "StorageCore", package: "SecurePropertyStorage"),
        .product(name: "SingletonBackend", package: "SecurePropertyStorage"),
        .product(name: "DefaultsBackend", package: "SecurePropertyStorage"),
        .product(name: "VaultBackend", package: "SecurePropertyStorage"),
        .product(name: "FileBackend", package: "SecurePropertyStorage"),
        .product(name: "KeyringBackend", package: "SecurePropertyStorage"),
        .product(name: "EtcdBackend", package: "SecurePropertyStorage"),
        .product(name: "PostgresBackend", package: "SecurePropertyStorage"),
        .product(name: "KeyringTesting", package: "SecurePropertyStorage"),
        .product(name: "LocalData", package: "SecurePropertyStorage"),
        .product(name: "InjectRegistry", package: "SecurePropertyStorage"),
        .product(name: "Crypto", package: "swift-crypto"),
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
