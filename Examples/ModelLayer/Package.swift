// swift-tools-version: 6.2
import PackageDescription

// The model of an app for Apple's platforms, which also runs on a Linux server. On Apple's platforms
// it stores with the Apple package, on Linux with this one. See docs/one-code-base.md.
let package = Package(
  name: "ModelLayer",
  platforms: [.macOS(.v13), .iOS(.v16)],
  dependencies: [
    // In a real package: .package(url: "https://github.com/alexruperez/SecurePropertyStorage", ...).
    // The stand-in has the same products, modules and declarations, as far as the model uses them.
    .package(path: "AppleStandIn/SecurePropertyStorage"),
    .package(name: "securepropertystorage-linux", path: "../..", traits: []),
  ],
  targets: [
    .target(
      name: "Model",
      dependencies: [
        .product(
          name: "SecurePropertyStorage", package: "SecurePropertyStorage",
          condition: .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS])),
        .product(
          name: "SecurePropertyStorage", package: "securepropertystorage-linux",
          condition: .when(platforms: [.linux])),
      ]),
    .executableTarget(
      name: "Server",
      dependencies: [
        "Model",
        .product(
          name: "SecurePropertyStorage", package: "securepropertystorage-linux",
          condition: .when(platforms: [.linux])),
      ]),
    .testTarget(
      name: "ModelTests",
      dependencies: [
        "Model",
        .product(
          name: "SecurePropertyStorage", package: "securepropertystorage-linux",
          condition: .when(platforms: [.linux])),
        .product(
          name: "StorageTesting", package: "securepropertystorage-linux",
          condition: .when(platforms: [.linux])),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
