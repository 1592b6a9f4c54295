#if Keyring
  import Foundation
  import KeyringTesting
  import LocalData
  import Testing

  @Suite(.serialized) struct KeyringTests {
    private let folder = TestFolder()
    private let bus: PrivateBus
    private let service: FakeSecretService
    private let token = key(
      "token", .keychain(service: "com.example"), .keychain(accessibility: .whenUnlocked))
    private let theme = key("theme", .userDefaults)

    init() throws {
      bus = try PrivateBus()
      service = try FakeSecretService(on: bus)
    }

    private func router(
      _ place: StorageConfiguration.KeychainPlace = .automatic, bus address: String? = nil
    ) -> StorageRouter {
      StorageRouter(
        applicationID: "com.example.app", keySource: .key(TestFolder.key), root: folder.path,
        keyringBus: address ?? bus.address, configuration: StorageConfiguration(keychain: place))
    }

    @Test func whereTheSessionHasAKeyringItIsTheKeychain() async throws {
      try await router().set("marker-5e1f0b", for: token)
      #expect(try await router().get(token) == "marker-5e1f0b")
      #expect(!service.items.isEmpty)
      // The master key is there, too.
      try await router().set("dark", for: theme)
      #expect(try await router().get(theme) == "dark")
      #expect(!folder.files().contains { $0.hasSuffix("keychain.vault") })
      #expect(
        !service.items.contains {
          String(decoding: $0.secret, as: UTF8.self).contains("5e1f0b")
            || "\($0.attributes) \($0.label)".contains("token")
        })
    }

    @Test func theChoiceIsKeptWhenTheKeyringIsGone() async throws {
      try await router().set("1", for: token)
      service.stop()
      let found = await code { _ = try await router().get(token) }
      #expect(found != nil && found != .configurationConflict)
      #expect(await code { try await router().set("2", for: token) } != nil)
      #expect(!folder.files().contains { $0.hasSuffix("keychain.vault") })
    }

    @Test func theVaultIsKeptWhenAKeyringComes() async throws {
      let key = key("t", .keychain(service: "com.example"))
      try await router(bus: "unix:path=\(folder.path)/no-bus").set("1", for: key)
      #expect(try await router().get(key) == "1")
      try await router().set("2", for: key)
      #expect(service.items.isEmpty)
      // What only a keyring can keep is refused there.
      #expect(await code { try await router().set("1", for: token) } == .unsupported)
    }

    @Test func anotherChoiceHidesNothing() async throws {
      try await router().set("1", for: token)
      try await router().set("dark", for: theme)
      let vault = router(.vault)
      let encrypted = key("token", .keychain(service: "com.example"))
      #expect(await code { _ = try await vault.get(encrypted) } == .configurationConflict)
      #expect(await code { try await vault.set("2", for: encrypted) } == .configurationConflict)
      #expect(await code { _ = try await vault.get(theme) } == .configurationConflict)
      #expect(try await router().get(token) == "1")
      #expect(try await router().get(theme) == "dark")
    }

    @Test(arguments: [KeychainAccessibility.always, .alwaysThisDeviceOnly])
    func aKeyringCannotPromiseToBeAlwaysOpen(_ accessibility: KeychainAccessibility) async {
      let key = key("a", .keychain(service: "s"), .keychain(accessibility: accessibility))
      #expect(await code { try await router().set("1", for: key) } == .unsupported)
    }

    @Test func aValueOfThisDeviceIsAStoreOfItsOwn() async throws {
      let key = key(
        "token", .keychain(service: "com.example"),
        .keychain(accessibility: .afterFirstUnlockThisDeviceOnly))
      try await router().set("device", for: key)
      #expect(try await router().get(key) == "device")
    }

    @Test func aLockedKeyringIsAnErrorAndDelaysNoOtherKey() async throws {
      let router = router()
      try await router.set("1", for: token)
      let other = key("plain", .userDefaults, .none)
      try await router.set("quick", for: other)
      service.change { $0.faults["*"] = .hangs }
      let hung = (0..<16).map { _ in
        Task { [token] in await code { _ = try await router.get(token) } }
      }
      try await Task.sleep(for: .milliseconds(50))
      let slowest = try await Patience.slowestOfTheBestTen { _ in
        let found = try await router.get(other)
        #expect(found == "quick")
      }
      #expect(slowest < .milliseconds(10))
      for task in hung { #expect(await task.value == .timedOut) }
      service.change { $0.faults = [:] }
      #expect(try await router.get(token) == "1")
      service.change { $0.prompts = [.unlock] }
      service.lock()
      let found = await code { try await router.set("2", for: token) }
      // With a display, the prompt is shown, and nobody is there to answer.
      #expect([.locked, .dismissed, .timedOut].contains(found))
    }

    @Test func anAuditLooksIntoTheKeyring() async throws {
      struct Keys {
        let token = key(
          "token", .keychain(service: "com.example"), .keychain(accessibility: .whenUnlocked))
        let theme = key("theme", .userDefaults)
      }
      let router = router()
      try router.registerKeys(Keys())
      try await router.set("marker-5e1f0b", for: Keys().token)
      try await router.set("dark", for: Keys().theme)
      try await self.router().set(
        "marker-5e1f0b", for: key("stray", .keychain(service: "com.example")))
      let report = try await router.audit()
      #expect(report.keys.allSatisfy { $0.state == .present })
      let token = report.keys.first { $0.key.name == "token" }
      #expect(token?.place == "the keyring, service com.example")
      #expect(token?.protection == "its place")
      // The master key is in the keyring too, and is nobody's stray.
      #expect(report.findings.map(\.name) == ["stray"] && report.findings[0].kind == .stray)
      for form in [report.text, report.json] { #expect(!form.contains("5e1f0b")) }
      service.stop()
      let without = try await self.router().audited(Keys())
      #expect(without.keys.first { $0.key.name == "token" }?.state == .unreadable)
      #expect(without.findings.contains { $0.kind == .unreadable })
    }
  }

  extension StorageRouter {
    /// The audit of a router that takes over a struct of keys.
    fileprivate func audited<Keys>(_ keys: Keys) async throws -> StorageAuditReport {
      try registerKeys(keys)
      return try await audit()
    }
  }
#endif
