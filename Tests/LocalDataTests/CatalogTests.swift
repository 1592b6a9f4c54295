import Foundation
import Testing

@testable import LocalData

private struct Theme: StorageKey {
  typealias Value = String
  let name = "theme"
  let domain: StorageDomain = .userDefaults
  let owner = "Settings"
  let description = "The theme."
}

private struct OtherTheme: StorageKey {
  typealias Value = Int
  let name = "theme"
  let domain: StorageDomain = .userDefaults(suite: nil)
  let owner = "Settings"
  let description = "The theme, too."
}

private struct Good: StorageKeyCatalog {
  static var allKeys: [AnyStorageKey] { [.key(Theme())] }
}

private struct Other: StorageKeyCatalog {
  static var allKeys: [AnyStorageKey] { [.key(OtherTheme())] }
}

private struct AppKeys {
  let theme = Theme()
  let launches = StoredKey<Int>(
    "launches", in: .userDefaults, security: .none, owner: "Tests", description: "Launches.")
  let account = AccountKeys()
  let version = 3
}

private struct AccountKeys {
  let token = StoredKey<String>(
    "token", in: .keychain(service: nil), owner: "Tests", description: "The token.")
}

@Suite struct CatalogTests {
  private let folder = TestFolder()

  @Test func anUnregisteredKeyIsRefusedOnceACatalogIsThere() async throws {
    let router = folder.router()
    let stray = key("stray", .userDefaults)
    try await router.set("1", for: stray)
    try router.registerCatalog(Good.self)
    try await router.set("dark", for: Theme())
    for call: @Sendable () async throws -> Void in [
      { _ = try await router.get(stray) }, { try await router.set("2", for: stray) },
      { try await router.remove(stray) }, { _ = try await router.contains(stray) },
      { try await router.update(stray) { $0 = "3" } },
    ] {
      let error = try #require(await error { try await call() })
      #expect(error.code == .unregisteredKey)
      #expect(error.message.contains("Good"))
      #expect(error.key == "stray")
    }
    #expect(try await folder.router().get(stray) == "1")
  }

  @Test func aKeyOfAnotherTypeOrPolicyIsNotTheRegisteredOne() async throws {
    let router = folder.router()
    try router.registerCatalog(Good.self)
    #expect(await code { _ = try await router.get(OtherTheme()) } == .unregisteredKey)
    let keys = folder.router()
    try keys.registerKeys(AppKeys())
    let sealed = key("launches", .userDefaults, .recommended, of: Int.self)
    #expect(await code { _ = try await keys.get(sealed) } == .unregisteredKey)
  }

  /// Lists that no router takes: the code, and the key that the error names.
  private static let refused: [([AnyStorageKey], StorageError.Code, String)] = [
    ([.key(Theme()), .key(OtherTheme())], .duplicate, "theme"),
    // A service by default, and the same by its name.
    (
      [
        .key(key("x", .keychain(service: nil))),
        .key(key("x", .keychain(service: "com.example.app"))),
      ], .duplicate, "x"
    ),
    (
      [.key(StoredKey<String>("x", in: .userDefaults, owner: "Tests", description: " \n "))],
      .invalid, "x"
    ),
    ([.key(key("x", .keychain(service: nil), .none))], .unsupported, "x"),
    (
      [
        .key(
          key(
            "x", .keychain(service: nil),
            .keychain(accessibility: .afterFirstUnlock, accessControl: .biometryAny)))
      ], .unsupported, "x"
    ),
  ]

  @Test(arguments: 0..<5)
  func aListThatCannotBeIsRefusedAndChangesNothing(_ index: Int) async throws {
    let router = folder.router()
    let (keys, code, name) = Self.refused[index]
    let error = #expect(throws: StorageError.self) { try router.core.register(keys, of: Self.self) }
    #expect(error?.code == code && error?.key == name)
    #expect(router.registeredKeys.isEmpty)
    #expect(folder.files().filter { $0.hasSuffix(".vault") } == [])
    try await router.set("1", for: key("stray", .userDefaults))
  }

  @Test func twoCatalogsMustNotShareAName() throws {
    let router = folder.router()
    try router.registerCatalog(Good.self)
    try router.registerCatalog(Good.self)
    let error = #expect(throws: StorageError.self) { try router.registerCatalog(Other.self) }
    #expect(error?.code == .duplicate)
    #expect(error?.message.contains("Good") == true)
    #expect(Array(router.registeredKeys.keys) == ["Good"])
  }

  @Test func aStructOfKeysIsACatalogTheCompilerKnows() async throws {
    let router = folder.router()
    try router.registerKeys(AppKeys())
    let keys = router(AppKeys())
    try await keys.set("dark", for: \.theme)
    try await keys.set("secret", for: \.account.token)
    try await keys.update(\.launches) { $0 = ($0 ?? 0) + 1 }
    #expect(try await keys.get(\.theme) == "dark")
    #expect(try await keys.get(\.account.token) == "secret")
    #expect(try await keys.get(\.launches) == 1)
    try await keys.remove(\.theme)
    #expect(try await keys.get(\.theme) == nil)
    #expect(router.registeredKeys["AppKeys"]?.map(\.name) == ["theme", "launches", "token"])
  }

  @Test func twoCatalogsWhoseTypesHaveOneNameAddUp() throws {
    enum Module {
      struct AppKeys { let color = key("color", .userDefaults) }
    }
    let router = folder.router()
    for _ in 0..<2 {
      try router.registerKeys(AppKeys())
      try router.registerKeys(Module.AppKeys())
    }
    #expect(router.registeredKeys.count == 2)
    #expect(router.registeredKeys.values.joined().count == 4)
  }

  @Test func aRouterThatMayOnlyReadChangesNothingInAnyDomain() async throws {
    let domains: [StorageDomain] = [
      .userDefaults, .keychain(service: nil), .fileSystem(directory: .documents),
      .encryptedFileSystem(directory: .documents), .appGroupUserDefaults(identifier: "group.test"),
      .appGroupFileSystem(id: "group.test", directory: .documents),
    ]
    var keys = domains.enumerated().map { key("sealed\($0)", $1) }
    keys.append(key("setting", .userDefaults, .none))
    keys.append(key("file", .fileSystem(directory: .documents), .none))
    let router = folder.router()
    try router.core.register(keys.map { AnyStorageKey.key($0) }, of: Self.self)
    for key in keys { try await router.set("old", for: key) }
    let reader = try StorageCatalogFile(json: Data(try router.catalogReport().json.utf8)).router(
      keySource: .key(TestFolder.key), folder: folder.url, access: .readOnly)
    for key in keys {
      #expect(await code { try await reader.set("new", for: key) } == .readOnly, "\(key.name)")
      #expect(await code { try await reader.update(key) { $0 = nil } } == .readOnly, "\(key.name)")
      #expect(await code { try await reader.remove(key) } == .readOnly, "\(key.name)")
      #expect(try await reader.get(key) == "old")
    }
  }

  @Test func aStructWithoutKeysIsNoCatalog() {
    struct Empty { let number = 1 }
    let error = #expect(throws: StorageError.self) { try folder.router().registerKeys(Empty()) }
    #expect(error?.code == .invalid)
  }

  @Test func aDescriptorSaysWhatAKeyDeclares() {
    let descriptor = AnyStorageKey.key(Theme()).descriptor
    #expect(descriptor.name == "theme")
    #expect(descriptor.domain == .userDefaults)
    #expect(descriptor.security == .recommended)
    #expect(descriptor.serializer == "json")
    #expect(descriptor.valueType == "String")
    #expect(descriptor.owner == "Settings")
    #expect(descriptor.description == "The theme.")
    #expect(descriptor.availability == .all)
    #expect(descriptor.syncPolicy == .never)
  }

  @Test func aKeyOfAnotherMachineIsListedAndRefused() async throws {
    struct Keys {
      let watch = StoredKey<String>(
        "w", in: .userDefaults, owner: "T", description: "On watches.", availability: .watchOnly)
      let server = StoredKey<String>(
        "s", in: .userDefaults, owner: "T", description: "On servers.",
        availability: .machines(["server"]))
      let phone = StoredKey<String>(
        "p", in: .userDefaults, owner: "T", description: "On phones.", availability: .phoneOnly)
    }
    let router = folder.router(
      configuration: StorageConfiguration(keychain: .vault, machineTags: ["watch"]))
    try router.registerKeys(Keys())
    try await router(Keys()).set("1", for: \.watch)
    #expect(await code { _ = try await router(Keys()).get(\.phone) } == .unavailable)
    #expect(await code { _ = try await router(Keys()).get(\.server) } == .unavailable)
  }

  @Test func whatIsNamedDefaultIsNotWhatIsLeftOut() async throws {
    struct Keys {
      let left = key("x", .keychain(service: nil))
      let named = key("x", .keychain(service: "default"))
    }
    let router = folder.router()
    try router.registerKeys(Keys())
    try await router.set("left out", for: Keys().left)
    try await router.set("named", for: Keys().named)
    #expect(try await folder.router().get(Keys().left) == "left out")
    #expect(try await folder.router().get(Keys().named) == "named")
    #expect(StorageDomain.keychain(service: nil).description == "keychain(default)")
    #expect(StorageDomain.keychain(service: "com.example").description == "keychain(com.example)")
  }

  @Test func noTwoKeysHaveOneText() {
    let services = [nil, "default", "\"default\"", "a", "a)/b", "\"a\")/b", "\\", "\"", "a\\"]
    var texts: [String] = []
    for service in services {
      for name in ["c", "b)/c", "b\")/c"] {
        for domain in [
          StorageDomain.keychain(service: service), .appGroupUserDefaults(identifier: service),
          .appGroupFileSystem(id: service, directory: .documents), .userDefaults(suite: service),
        ] { texts.append(AnyStorageKey.key(key(name, domain)).description) }
      }
    }
    #expect(Set(texts).count == texts.count)
  }
}
