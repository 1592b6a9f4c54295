// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Examples",
  dependencies: [.package(name: "SecurePropertyStorage", path: "..")],
  targets: [
    .executableTarget(
      name: "Webshop",
      dependencies: [
        .product(name: "SecurePropertyStorage", package: "SecurePropertyStorage")
      ],
      swiftSettings: [.enableUpcomingFeature("ExistentialAny")])
  ],
  swiftLanguageModes: [.v6]
)
