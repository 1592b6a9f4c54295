// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that users of the library do not resolve its dependencies.
let package = Package(
  name: "securestore",
  products: [.executable(name: "securestore", targets: ["securestore"])],
  traits: [
    .trait(name: "Keyring", description: "Keys in the desktop's keyring, which need libsecret."),
    .trait(name: "Etcd", description: "Stores in etcd, which need gRPC's C library."),
    .default(enabledTraits: ["Keyring"]),
  ],
  dependencies: [
    .package(
      name: "SecurePropertyStorage", path: "../..",
      traits: [.trait(name: "Keyring", condition: .when(traits: ["Keyring"]))]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
  ],
  targets: [
    .target(name: "CProcess"),
    .executableTarget(
      name: "securestore",
      dependencies: [
        "CProcess",
        .product(name: "CryptoCore", package: "SecurePropertyStorage"),
        .product(name: "StorageCore", package: "SecurePropertyStorage"),
        .product(name: "VaultBackend", package: "SecurePropertyStorage"),
        .product(name: "FileBackend", package: "SecurePropertyStorage"),
        .product(name: "DefaultsBackend", package: "SecurePropertyStorage"),
        .product(
          name: "KeyringBackend", package: "SecurePropertyStorage",
          condition: .when(traits: ["Keyring"])),
        .product(
          name: "EtcdBackend", package: "SecurePropertyStorage",
          condition: .when(traits: ["Etcd"])),
        .product(name: "LocalData", package: "SecurePropertyStorage"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Yams", package: "Yams"),
      ]),
    .testTarget(
      name: "SecurestoreTests",
      dependencies: [
        "securestore",
        .product(name: "CryptoCore", package: "SecurePropertyStorage"),
        .product(name: "StorageCore", package: "SecurePropertyStorage"),
        .product(name: "VaultBackend", package: "SecurePropertyStorage"),
        .product(name: "FileBackend", package: "SecurePropertyStorage"),
        .product(name: "DefaultsBackend", package: "SecurePropertyStorage"),
        .product(name: "KeyringBackend", package: "SecurePropertyStorage"),
        .product(name: "LocalData", package: "SecurePropertyStorage"),
        .product(name: "KeyringTesting", package: "SecurePropertyStorage"),
        .product(name: "StorageTesting", package: "SecurePropertyStorage"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      exclude: ["Corpus", "Fixtures"]),
  ],
  swiftLanguageModes: [.v6]
)

// As in the library's Package.swift.
for target in package.targets where target.name != "CProcess" {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
  ]
}
