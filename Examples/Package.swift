// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Examples",
  dependencies: [.package(name: "SecurePropertyStorage", path: "..")],
  // Webshop keeps its settings in UserDefaults, Shopfront reads them from a vault.
  targets: ["Webshop", "Shopfront"].map {
    .executableTarget(
      name: $0,
      dependencies: [
        .product(name: "SecurePropertyStorage", package: "SecurePropertyStorage")
      ],
      swiftSettings: [.enableUpcomingFeature("ExistentialAny")])
  },
  swiftLanguageModes: [.v6]
)
