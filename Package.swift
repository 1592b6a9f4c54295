// swift-tools-version: 6.2
import PackageDescription

// Every module is a product, so that a program links only the C libraries it uses.
let modules = [
  "CryptoCore", "StorageCore", "SingletonBackend", "DefaultsBackend", "VaultBackend",
  "FileBackend", "KeyringBackend", "EtcdBackend", "PostgresBackend", "ProviderBackend",
  "KeychainStorageShim", "InjectRegistry",
  "LocalData", "SecureConfiguration", "SecureService",
  "StorageFoundation", "StorageTesting", "KeyringTesting", "InjectTesting", "SecurePropertyStorage",
]

let package = Package(
  name: "SecurePropertyStorage",
  products: modules.map { .library(name: $0, targets: [$0]) },
  traits: [
    .trait(
      name: "Keyring",
      description: "The umbrella and securestore have KeyringBackend, which needs libsecret."),
    .trait(
      name: "Configuration",
      description: "SecureConfiguration has a provider, which needs swift-configuration."),
    .trait(
      name: "Server",
      description:
        "SecureService has a service, which needs swift-service-lifecycle, swift-log, swift-metrics."
    ),
    .default(enabledTraits: ["Keyring"]),
  ],
  // What a trait that is off needs is not resolved.
  dependencies: [
    .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0", traits: []),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.3"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
  ],
  targets: [
    .systemLibrary(
      name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CLibsecret", pkgConfig: "libsecret-1", providers: [.apt(["libsecret-1-dev"])]),
    .target(name: "CryptoCore", dependencies: ["COpenSSL"]),
    .systemLibrary(name: "CGlibc"),
    .target(name: "StorageCore", dependencies: ["CryptoCore", "CGlibc"]),
    .target(name: "SingletonBackend", dependencies: ["StorageCore", "CryptoCore"]),
    .target(name: "DefaultsBackend", dependencies: ["StorageCore", "CryptoCore"]),
    // What needs all of Foundation. A program that does not link it is 40 MB smaller.
    .target(
      name: "StorageFoundation", dependencies: ["DefaultsBackend", "StorageCore", "CryptoCore"]),
    .target(name: "VaultBackend", dependencies: ["StorageCore", "CryptoCore", "CSQLite"]),
    .target(name: "FileBackend", dependencies: ["VaultBackend", "StorageCore", "CryptoCore"]),
    .target(name: "KeyringBackend", dependencies: ["StorageCore", "CryptoCore", "CLibsecret"]),
    .target(name: "RemoteBackend", dependencies: ["StorageCore", "CryptoCore"]),
    // It loads gRPC's library by itself, by dlopen(3).
    .target(
      name: "CGRPC", linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    .target(
      name: "EtcdBackend", dependencies: ["RemoteBackend", "StorageCore", "CryptoCore", "CGRPC"]),
    // It loads libpq by itself, too.
    .target(name: "CPostgres"),
    .target(
      name: "PostgresBackend",
      dependencies: ["RemoteBackend", "StorageCore", "CryptoCore", "CPostgres"]),
    .target(name: "ProviderBackend", dependencies: ["StorageCore", "CryptoCore"]),
    .target(name: "KeychainStorageShim", dependencies: ["ProviderBackend", "StorageCore"]),
    .target(
      name: "LocalData",
      dependencies: [
        "FileBackend", "VaultBackend", "DefaultsBackend", "StorageCore", "CryptoCore",
        .target(name: "KeyringBackend", condition: .when(traits: ["Keyring"])),
      ]),
    .target(
      name: "SecureConfiguration",
      dependencies: [
        "StorageCore", "CryptoCore",
        .product(
          name: "Configuration", package: "swift-configuration",
          condition: .when(traits: ["Configuration"])),
      ]),
    .target(
      name: "SecureService",
      dependencies: [
        "VaultBackend", "DefaultsBackend", "RemoteBackend", "StorageCore", "CryptoCore",
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["Server"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Server"])),
        .product(
          name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Server"])),
      ]),
    .target(
      name: "StorageTesting", dependencies: ["StorageCore", "CryptoCore", "SingletonBackend"]),
    .target(name: "KeyringTesting", dependencies: ["CLibsecret"]),
    .target(
      name: "SecurePropertyStorage",
      dependencies: [
        "CryptoCore", "StorageCore", "SingletonBackend", "DefaultsBackend", "VaultBackend",
        "FileBackend", "ProviderBackend", "StorageFoundation", "InjectRegistry",
        .target(name: "KeyringBackend", condition: .when(traits: ["Keyring"])),
      ]),
    .target(name: "InjectRegistry"),
    .target(name: "InjectTesting", dependencies: ["InjectRegistry"]),

    .executableTarget(
      name: "DefaultsTestChild",
      dependencies: [
        "DefaultsBackend", "StorageFoundation", "StorageCore", "CryptoCore", "TestSupport",
      ],
      path: "Tests/DefaultsTestChild"),
    .testTarget(
      name: "DefaultsBackendTests",
      dependencies: [
        "DefaultsBackend", "DefaultsTestChild", "StorageFoundation", "StorageCore", "CryptoCore",
        "StorageTesting", "TestSupport",
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
      name: "ProviderBackendTests",
      dependencies: [
        "ProviderBackend", "StorageCore", "CryptoCore", "StorageTesting", "TestSupport",
      ]),
    .testTarget(
      name: "KeychainStorageShimTests",
      dependencies: ["KeychainStorageShim", "ProviderBackend", "StorageCore"]),
    .executableTarget(
      name: "FileTestChild",
      dependencies: ["FileBackend", "VaultBackend", "StorageCore", "CryptoCore", "TestSupport"],
      path: "Tests/FileTestChild"),
    .testTarget(
      name: "FileBackendTests",
      dependencies: [
        "FileBackend", "FileTestChild", "VaultBackend", "StorageCore", "CryptoCore",
        "StorageTesting", "TestSupport",
      ]),
    .executableTarget(
      name: "LocalDataTestChild", dependencies: ["LocalData", "VaultBackend", "TestSupport"],
      path: "Tests/LocalDataTestChild"),
    .testTarget(
      name: "LocalDataTests",
      dependencies: [
        "LocalData", "LocalDataTestChild", "VaultBackend", "StorageCore", "CryptoCore",
        "StorageTesting", "KeyringTesting", "TestSupport",
      ]),
    .testTarget(
      name: "SecureConfigurationTests",
      dependencies: [
        "SecureConfiguration", "VaultBackend", "DefaultsBackend", "SingletonBackend",
        "KeyringBackend", "KeyringTesting", "StorageCore", "CryptoCore", "StorageTesting",
        "TestSupport",
        .product(
          name: "Configuration", package: "swift-configuration",
          condition: .when(traits: ["Configuration"])),
        .product(
          name: "ConfigurationTesting", package: "swift-configuration",
          condition: .when(traits: ["Configuration"])),
      ]),
    .testTarget(
      name: "SecureServiceTests",
      dependencies: [
        "SecureService", "VaultBackend", "DefaultsBackend", "RemoteBackend", "RemoteTesting",
        "StorageCore", "CryptoCore", "StorageTesting", "TestSupport",
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["Server"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Server"])),
        .product(
          name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Server"])),
        .product(
          name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle",
          condition: .when(traits: ["Server"])),
        .product(
          name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Server"])),
      ]),
    .executableTarget(
      name: "KeychainTestChild", dependencies: ["KeyringBackend", "StorageCore", "CryptoCore"],
      path: "Tests/KeychainTestChild"),
    .testTarget(
      name: "KeyringBackendTests",
      dependencies: [
        "KeyringBackend", "KeychainTestChild", "KeyringTesting", "StorageCore", "CryptoCore",
        "StorageTesting", "TestSupport", "VaultBackend", "DefaultsBackend", "SingletonBackend",
        "CLibsecret",
      ]),
    .testTarget(
      name: "SecurePropertyStorageTests",
      dependencies: [
        "SecurePropertyStorage", "CryptoCore", "StorageCore", "SingletonBackend",
        "DefaultsBackend", "VaultBackend", "FileBackend", "LocalData", "KeyringBackend",
        "KeychainStorageShim", "KeyringTesting", "StorageFoundation", "StorageTesting",
        "TestSupport",
      ]),
    .target(name: "CAllocationCounter", path: "Benchmarks/Sources/CAllocations"),
    .executableTarget(
      name: "InjectTestChild", dependencies: ["InjectRegistry", "CAllocationCounter"],
      path: "Tests/InjectTestChild"),
    .testTarget(
      name: "InjectRegistryTests",
      dependencies: ["InjectRegistry", "InjectTestChild", "TestSupport"]),
    .testTarget(
      name: "InjectTestingTests",
      dependencies: [
        "InjectTesting", "InjectRegistry", "SecurePropertyStorage", "StorageTesting", "TestSupport",
      ]),
    // Code of the Apple package: the same files, by links, in both language modes.
    .testTarget(
      name: "MovedCodeTests", dependencies: ["SecurePropertyStorage", "StorageTesting"]),
    .testTarget(
      name: "MovedCodeSwift5Tests", dependencies: ["SecurePropertyStorage", "StorageTesting"]),
    // What a key that leaked is worth after a rotation, over every kind of store.
    .testTarget(
      name: "LeakTests",
      dependencies: [
        "VaultBackend", "DefaultsBackend", "FileBackend", "KeyringBackend", "KeyringTesting",
        "ProviderBackend", "LocalDataTestChild", "StorageCore", "CryptoCore", "StorageTesting",
        "TestSupport", "CSQLite",
      ]),
    // The fuzzer's targets on the inputs that it kept, built as tests are: Fuzz/README.md.
    .testTarget(
      name: "FuzzTests",
      dependencies: [
        "CryptoCore", "StorageCore", "SingletonBackend", "DefaultsBackend", "VaultBackend",
        "FileBackend", "LocalData",
      ],
      path: "Fuzz",
      exclude: [
        "Corpus", "Package.swift", "README.md", "Sources/CLibFuzzer", "Sources/fuzz/Main.swift",
      ],
      sources: ["Sources/fuzz", "Tests"]),
    .target(name: "TestSupport", dependencies: ["CGlibc"], path: "Tests/Support"),
    .target(
      name: "RemoteTesting",
      dependencies: [
        "RemoteBackend", "StorageCore", "CryptoCore", "LocalData", "StorageTesting", "TestSupport",
        "VaultBackend",
      ],
      path: "Tests/RemoteTesting"),
    .testTarget(
      name: "RemoteBackendTests",
      dependencies: [
        "RemoteBackend", "RemoteTesting", "StorageCore", "CryptoCore", "StorageTesting",
        "TestSupport",
      ]),
    // gRPC's declarations as this package has them, and as gRPC's own headers do.
    .target(name: "CGRPCFacts", path: "Tests/GRPCFacts"),
    .executableTarget(
      name: "EtcdTestChild", dependencies: ["EtcdBackend", "RemoteTesting"],
      path: "Tests/EtcdTestChild"),
    .testTarget(
      name: "EtcdBackendTests",
      dependencies: [
        "EtcdBackend", "EtcdTestChild", "CGRPCFacts", "LocalData", "RemoteBackend", "StorageCore",
        "CryptoCore", "StorageTesting", "KeyringTesting", "RemoteTesting", "TestSupport",
        "VaultBackend",
      ]),
    // libpq's declarations as this package has them; a difference from libpq's own header is an error there.
    .target(name: "CPostgresFacts", path: "Tests/PostgresFacts"),
    .executableTarget(
      name: "PostgresTestChild", dependencies: ["PostgresBackend", "RemoteTesting"],
      path: "Tests/PostgresTestChild"),
    .testTarget(
      name: "PostgresBackendTests",
      dependencies: [
        "PostgresBackend", "PostgresTestChild", "CPostgresFacts", "RemoteBackend", "StorageCore",
        "CryptoCore", "StorageTesting", "RemoteTesting", "TestSupport", "VaultBackend",
      ]),
    .testTarget(name: "CryptoCoreTests", dependencies: ["CryptoCore", "TestSupport"]),
    .testTarget(
      name: "StorageCoreTests",
      dependencies: [
        "StorageCore", "CryptoCore", "SingletonBackend", "StorageFoundation", "StorageTesting",
        "TestSupport",
      ]),
    .testTarget(
      name: "SingletonBackendTests",
      dependencies: [
        "SingletonBackend", "StorageCore", "CryptoCore", "TestSupport",
      ]),
    .testTarget(
      name: "StorageTestingTests",
      dependencies: [
        "StorageTesting", "StorageCore", "CryptoCore", "SingletonBackend", "TestSupport",
      ]),
    .executableTarget(
      name: "KeyringTestChild", dependencies: ["KeyringTesting"], path: "Tests/KeyringTestChild"),
    .testTarget(
      name: "KeyringTestingTests",
      dependencies: ["KeyringTesting", "KeyringTestChild", "CLibsecret", "TestSupport"]),
  ],
  swiftLanguageModes: [.v6]
)

// The command line tool, for those who build it: `make tool`, `make test`. Of a trait, its targets would be there
// without what they import, and `swift build` would fail: docs/decisions/package.md.
if Context.environment["SPS_TOOL"] != nil {
  let parser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
  package.products.append(.executable(name: "securestore", targets: ["securestore"]))
  package.dependencies += [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
  ]
  package.targets += [
    .target(name: "CProcess", path: "Tools/securestore/Sources/CProcess"),
    .executableTarget(
      name: "securestore",
      dependencies: [
        "CProcess", "CryptoCore", "StorageCore", "VaultBackend", "FileBackend", "DefaultsBackend",
        "LocalData", "EtcdBackend", "PostgresBackend", "RemoteBackend", parser,
        .product(name: "Yams", package: "Yams"),
        .target(name: "KeyringBackend", condition: .when(traits: ["Keyring"])),
      ],
      path: "Tools/securestore/Sources/securestore"),
    .testTarget(
      name: "SecurestoreTests",
      dependencies: [
        "securestore", "CryptoCore", "StorageCore", "VaultBackend", "FileBackend",
        "DefaultsBackend", "KeyringBackend", "LocalData", "KeyringTesting", "StorageTesting",
        "TestSupport", parser,
      ],
      path: "Tools/securestore/Tests/SecurestoreTests", exclude: ["Corpus", "Transcripts"]),
  ]
}

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

// Apps may do without the setting, or were written before it was there and name protocols without
// `any`. What does with it, InjectRegistryTests compiles as programs of their own.
for target in package.targets where target.isTest && target.name.hasPrefix("Inject") {
  target.swiftSettings?.removeFirst()
}

// As in an app: no setting but the language mode.
for target in package.targets where target.name.hasPrefix("MovedCode") {
  target.swiftSettings = [
    .swiftLanguageMode(target.name.contains("Swift5") ? .v5 : .v6)
  ]
}
