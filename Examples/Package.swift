// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Examples",
  dependencies: [.package(name: "SecurePropertyStorage", path: "..")],
  // Webshop is a service with 30 settings and 10 secrets in a vault. Shopfront reads a vault, and a
  // password from the desktop's keyring. Signboard observes two values of that vault. Cashier shows
  // injection.
  targets: ["Webshop", "Shopfront", "Signboard", "Cashier"].map {
    .executableTarget(
      name: $0,
      dependencies: [
        .product(name: "SecurePropertyStorage", package: "SecurePropertyStorage")
      ])
  } + [
    // Forge is a command-line tool with tokens and settings, which links no more than it needs.
    .executableTarget(
      name: "Forge",
      dependencies: [
        .product(name: "VaultBackend", package: "SecurePropertyStorage"),
        .product(name: "DefaultsBackend", package: "SecurePropertyStorage"),
        .product(name: "StorageCore", package: "SecurePropertyStorage"),
      ]),
    .testTarget(
      name: "ForgeTests",
      dependencies: [
        "Forge",
        .product(name: "VaultBackend", package: "SecurePropertyStorage"),
        .product(name: "DefaultsBackend", package: "SecurePropertyStorage"),
        .product(name: "StorageTesting", package: "SecurePropertyStorage"),
      ]),
    .testTarget(
      name: "WebshopTests",
      dependencies: [
        "Webshop",
        .product(name: "SecurePropertyStorage", package: "SecurePropertyStorage"),
        .product(name: "StorageTesting", package: "SecurePropertyStorage"),
      ]),
    // Fleet is a program of many machines that share settings in etcd.
    .executableTarget(
      name: "Fleet",
      dependencies: [.product(name: "EtcdBackend", package: "SecurePropertyStorage")]),
    // Inventory declares its data as typed keys.
    .executableTarget(
      name: "Inventory",
      dependencies: [.product(name: "LocalData", package: "SecurePropertyStorage")]),
    .testTarget(
      name: "CashierTests",
      dependencies: [
        "Cashier",
        .product(name: "SecurePropertyStorage", package: "SecurePropertyStorage"),
        .product(name: "InjectTesting", package: "SecurePropertyStorage"),
        .product(name: "StorageTesting", package: "SecurePropertyStorage"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
