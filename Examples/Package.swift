// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Examples",
  dependencies: [.package(name: "SecurePropertyStorage", path: "..")],
  // Webshop keeps its settings in UserDefaults. Shopfront reads settings from a vault, and a
  // password from the desktop's keyring. Signboard observes two values of that vault. Cashier shows
  // injection.
  targets: ["Webshop", "Shopfront", "Signboard", "Cashier"].map {
    .executableTarget(
      name: $0,
      dependencies: [
        .product(name: "SecurePropertyStorage", package: "SecurePropertyStorage")
      ])
  } + [
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
