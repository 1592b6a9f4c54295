// swift-tools-version: 6.0
import PackageDescription

// Stands in for the Apple package, so that its place in a package graph can be tried on Linux. It keeps
// values in memory. Only what the example uses is here.
let package = Package(
  name: "SecurePropertyStorage",
  platforms: [.iOS(.v13), .macOS(.v11)],
  products: [
    .library(name: "SecurePropertyStorage", targets: ["Storage", "UserDefault", "Keychain"]),
    .library(name: "UserDefault", targets: ["Storage", "UserDefault"]),
    .library(name: "Keychain", targets: ["Storage", "Keychain"]),
  ],
  targets: [
    .target(name: "Storage"),
    .target(name: "Keychain", dependencies: ["Storage"]),
    .target(name: "UserDefault", dependencies: ["Storage", "Keychain"]),
  ]
)
