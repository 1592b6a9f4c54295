// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Examples",
  dependencies: [.package(name: "SecurePropertyStorage", path: "..")],
  // Forge is a command-line tool that keeps tokens, Relay a service with live settings, Notebook the
  // model layer of an app. Webshop keeps its settings in UserDefaults. Shopfront reads settings from
  // a vault, and a password from the desktop's keyring. Cashier shows injection.
  targets: ["Forge", "Relay", "Notebook", "Webshop", "Shopfront", "Cashier"].map {
    .executableTarget(
      name: $0,
      dependencies: [
        .product(name: "SecurePropertyStorage", package: "SecurePropertyStorage")
      ])
  }
    + ["Forge", "Relay", "Notebook"].map {
      .testTarget(
        name: $0 + "Tests",
        dependencies: [
          .target(name: $0),
          .product(name: "SecurePropertyStorage", package: "SecurePropertyStorage"),
          .product(name: "StorageTesting", package: "SecurePropertyStorage"),
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
