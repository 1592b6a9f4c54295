// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "token-service",
  products: [.executable(name: "token-service", targets: ["TokenService"])],
  dependencies: [
    // Without the trait Keyring: a server needs no libsecret.
    .package(
      name: "SecurePropertyStorage", path: "../..", traits: ["Configuration", "Server"]),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.20.0"),
    .package(
      url: "https://github.com/apple/swift-configuration", from: "1.0.0",
      traits: ["CommandLineArguments"]),
    .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.3"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
  ],
  targets: [
    .executableTarget(
      name: "TokenService",
      dependencies: [
        .product(name: "VaultBackend", package: "SecurePropertyStorage"),
        .product(name: "EtcdBackend", package: "SecurePropertyStorage"),
        .product(name: "PostgresBackend", package: "SecurePropertyStorage"),
        .product(name: "InjectRegistry", package: "SecurePropertyStorage"),
        .product(name: "SecureConfiguration", package: "SecurePropertyStorage"),
        .product(name: "SecureService", package: "SecurePropertyStorage"),
        .product(name: "StorageCore", package: "SecurePropertyStorage"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
      ]),
    .testTarget(
      name: "TokenServiceTests",
      dependencies: [
        "TokenService",
        .product(name: "InjectRegistry", package: "SecurePropertyStorage"),
        .product(name: "InjectTesting", package: "SecurePropertyStorage"),
        .product(name: "StorageTesting", package: "SecurePropertyStorage"),
        .product(name: "StorageCore", package: "SecurePropertyStorage"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
