// swift-tools-version: 6.2
import PackageDescription

// Every module is a product, so that a program links only the C libraries it uses.
let modules = [
  "CryptoCore", "StorageCore", "SingletonBackend", "DefaultsBackend", "VaultBackend",
  "StorageTesting", "SecurePropertyStorage",
]

let package = Package(
  name: "SecurePropertyStorage",
  products: modules.map { .library(name: $0, targets: [$0]) },
  targets: [
    .systemLibrary(
      name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .target(name: "CryptoCore", dependencies: ["COpenSSL"]),
    .target(name: "StorageCore", dependencies: ["CryptoCore"]),
    .target(name: "SingletonBackend", dependencies: ["StorageCore", "CryptoCore"]),
    .target(name: "DefaultsBackend", dependencies: ["StorageCore", "CryptoCore"]),
    .target(name: "VaultBackend", dependencies: ["StorageCore", "CryptoCore", "CSQLite"]),
    .target(
      name: "StorageTesting", dependencies: ["StorageCore", "CryptoCore", "SingletonBackend"]),
    .target(
      name: "SecurePropertyStorage",
      dependencies: [
        "CryptoCore", "StorageCore", "SingletonBackend", "DefaultsBackend", "VaultBackend",
      ]),

    .executableTarget(
      name: "DefaultsTestChild", dependencies: ["DefaultsBackend", "StorageCore", "CryptoCore"],
      path: "Tests/DefaultsTestChild"),
    .testTarget(
      name: "DefaultsBackendTests",
      dependencies: [
        "DefaultsBackend", "DefaultsTestChild", "StorageCore", "CryptoCore", "StorageTesting",
        "TestSupport",
      ]),
    .executableTarget(
      name: "VaultTestChild",
      dependencies: ["VaultBackend", "StorageCore", "CryptoCore", "TestSupport"],
      path: "Tests/VaultTestChild"),
    .testTarget(
      name: "VaultBackendTests",
      dependencies: [
        "VaultBackend", "VaultTestChild", "StorageCore", "CryptoCore", "StorageTesting", "CSQLite",
        "TestSupport",
      ]),
    .testTarget(
      name: "SecurePropertyStorageTests", dependencies: ["SecurePropertyStorage"]),
    .target(name: "TestSupport", path: "Tests/Support"),
    .testTarget(name: "CryptoCoreTests", dependencies: ["CryptoCore", "TestSupport"]),
    .testTarget(
      name: "StorageCoreTests",
      dependencies: [
        "StorageCore", "CryptoCore", "SingletonBackend", "StorageTesting", "TestSupport",
      ]),
    .testTarget(
      name: "SingletonBackendTests",
      dependencies: [
        "SingletonBackend", "StorageCore", "CryptoCore", "StorageTesting", "TestSupport",
      ]),
    .testTarget(
      name: "StorageTestingTests",
      dependencies: ["StorageTesting", "StorageCore", "CryptoCore", "SingletonBackend"]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
  target.swiftSettings = [
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
    .enableUpcomingFeature("ExistentialAny"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
    .enableUpcomingFeature("InternalImportsByDefault"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
    .enableUpcomingFeature("MemberImportVisibility"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0458-strict-memory-safety.md
    .strictMemorySafety(),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0480-swiftpm-warning-control.md
    .treatWarning("ExplicitSendable", as: .error),
  ]
}
