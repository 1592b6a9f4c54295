import CryptoCore
import Foundation
import Testing

@testable import LocalData

@Suite struct PolicyTests {
  private let folder = TestFolder()

  /// Policies that no domain or no machine keeps.
  private static let refused: [(StoredKey<String>, StorageError.Code)] = {
    var rows: [(StoredKey<String>, StorageError.Code)] = []
    for domain in Combination.sealingDomains {
      rows.append((key("x", domain, .none), .unsupported))
    }
    let keychain = SecurityPolicy.keychain(accessibility: .afterFirstUnlock)
    let others: [StorageDomain] = [.encryptedFileSystem(directory: .documents)]
    for domain in Combination.plainDomains + others {
      rows.append((key("x", domain, keychain), .unsupported))
    }
    let salt = Data(repeating: 0, count: 256)
    let derivations: [SecurityPolicy.KeyDerivation] = [
      .pbkdf2(iterations: 0), .pbkdf2(iterations: -1), .pbkdf2(iterations: 10_000_001),
      .hkdf(salt: salt),
    ]
    for derivation in derivations {
      let policy = SecurityPolicy.encrypted(.aes256(keyDerivation: derivation))
      rows.append((key("x", .userDefaults, policy), .invalid))
    }
    return rows
  }()

  @Test func aPolicyThatCannotBeKeptIsRefused() async {
    for (key, expected) in Self.refused {
      let found = await code { try await folder.router().set("1", for: key) }
      #expect(found == expected, "\(key.domain) \(key.security)")
    }
  }

  @Test(arguments: KeychainAccessibility.allCases)
  func aVaultKeepsWhatItCanAndRefusesTheRest(_ accessibility: KeychainAccessibility) async throws {
    let key = key(
      "x", .keychain(service: "s"), .keychain(accessibility: accessibility))
    let refused: [KeychainAccessibility] = [
      .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly,
    ]
    let router = folder.router()
    if refused.contains(accessibility) {
      #expect(await code { try await router.set("1", for: key) } == .unsupported)
      #expect(await code { _ = try await router.get(key) } == .unsupported)
    } else {
      try await router.set("1", for: key)
      #expect(try await router.get(key) == "1")
    }
  }

  @Test(arguments: KeychainAccessControl.allCases)
  func biometryIsRefusedAndAPasscodeIsAskedFor(_ control: KeychainAccessControl) async throws {
    let key = key(
      "x", .keychain(service: "s"),
      .keychain(accessibility: .afterFirstUnlock, accessControl: control))
    let router = folder.router()
    #expect(await code { try await router.set("1", for: key) } == .unsupported)
    await router.registerPasscode { try SecureBytes(Array("correct horse".utf8)) }
    if [.biometryAny, .biometryCurrentSet].contains(control) {
      #expect(await code { try await router.set("1", for: key) } == .unsupported)
    } else {
      try await router.set("1", for: key)
      #expect(try await router.get(key) == "1")
    }
  }

  @Test func aPasscodeComesFromAProgram() async throws {
    let key = key(
      "x", .keychain(service: "s"), .keychain(accessibility: .whenPasscodeSetThisDeviceOnly))
    let router = folder.router()
    let passcode = KeyCommand(["sh", "-c", "echo correct horse; echo user: me"])
    await router.registerPasscode { try passcode.line() }
    try await router.set("1", for: key)
    await router.registerPasscode { try SecureBytes(Array("correct horse".utf8)) }
    #expect(try await router.get(key) == "1")
    let locked = KeyCommand(["sh", "-c", "echo correct horse; exit 3"])
    await router.registerPasscode { try locked.line() }
    let failure = try #require(await error { _ = try await router.get(key) })
    #expect(failure.code == .keyUnavailable && failure.message.contains("exit code 3"))
    #expect(!"\(failure)".contains("horse"))
  }

  @Test func aPasscodeClosureThatReadsTheValueItIsAskedForIsRefusedAtOnce() async throws {
    let key = key(
      "x", .keychain(service: "s"), .keychain(accessibility: .whenPasscodeSetThisDeviceOnly))
    let router = folder.router()
    await router.registerPasscode { try SecureBytes(Array("correct horse".utf8)) }
    try await router.set("1", for: key)
    let value = Stored(key, router: router)
    let asked = Lock(0)
    await router.registerPasscode {
      asked.withLock { $0 += 1 }
      _ = try value.load()
      return try SecureBytes(Array("correct horse".utf8))
    }
    let refusal = await error { _ = try await router.get(key) }
    #expect(refusal?.code == .invalid && asked.withLock { $0 } == 1)
    #expect(refusal?.message.contains("the passcode closure used the value \"x\"") == true)
  }

  @Test func anotherPasscodeOpensNothingAndReplacesNothing() async throws {
    let key = key(
      "x", .keychain(service: "s"),
      .keychain(accessibility: .whenPasscodeSetThisDeviceOnly))
    let router = folder.router()
    await router.registerPasscode { try SecureBytes(Array("correct horse".utf8)) }
    try await router.set("1", for: key)
    await router.registerPasscode { try SecureBytes(Array("wrong horse".utf8)) }
    #expect(await code { _ = try await router.get(key) } == .wrongKey)
    #expect(await code { try await router.set("2", for: key) } == .wrongKey)
    await router.registerPasscode { nil }
    #expect(await code { _ = try await router.get(key) } == .keyUnavailable)
    struct Secret: Error, CustomStringConvertible { let description = "correct horse" }
    await router.registerPasscode { throw Secret() }
    let error = try #require(await error { _ = try await router.get(key) })
    #expect(error.code == .keyUnavailable)
    #expect(!error.description.contains("horse"))
    await router.registerPasscode { try SecureBytes(Array("correct horse".utf8)) }
    #expect(try await router.get(key) == "1")
  }

  @Test func parametersMayChangeAndOlderValuesStayReadable() async throws {
    let domain = StorageDomain.fileSystem(directory: .documents)
    let policies: [SecurityPolicy] = [
      .encrypted(.aes256(keyDerivation: .hkdf(info: Data("one".utf8)))),
      .encrypted(.chacha20Poly1305(keyDerivation: .pbkdf2(iterations: 50))),
      .encrypted(.aes256(keyDerivation: .pbkdf2(iterations: 60, salt: Data("s".utf8)))),
      .recommended,
    ]
    for (index, policy) in policies.enumerated() {
      let key = key("x", domain, policy)
      let router = folder.router()
      if index > 0 { #expect(try await router.get(key) == "\(index - 1)") }
      try await router.set("\(index)", for: key)
    }
  }

  @Test func aSealedFileThatIsAlteredSwappedOrCutIsDamaged() async throws {
    let domain = StorageDomain.fileSystem(directory: .documents)
    let router = folder.router()
    let (one, two) = (key("one", domain), key("two", domain))
    try await router.set("1", for: one)
    try await router.set("2", for: two)
    let url = folder.url.appendingPathComponent("data/com.example.app/Documents")
    let file = url.appendingPathComponent("one")
    let bytes = try Data(contentsOf: file)
    for offset in bytes.indices {
      var altered = bytes
      altered[offset] ^= 1
      try altered.write(to: file)
      let found = await code { _ = try await router.get(one) }
      #expect(
        [.damaged, .unsupported, .typeMismatch, .wrongKey].contains(found), "byte \(offset)")
    }
    for count in [0, 4, 7, bytes.count - 1] {
      try bytes.prefix(count).write(to: file)
      #expect(await code { _ = try await router.get(one) } == .damaged)
    }
    try Data(contentsOf: url.appendingPathComponent("two")).write(to: file)
    #expect(await code { _ = try await router.get(one) } == .damaged)
    try bytes.write(to: file)
    #expect(try await router.get(one) == "1")
  }

  @Test func aMasterKeyThatIsGoneIsNotMadeAnew() async throws {
    let key = key("x", .userDefaults)
    try await folder.router().set("1", for: key)
    let master = VaultFiles.master(in: folder)
    let kept = try #require(try master.load(Data.self, forKey: VaultFiles.masterName))
    try master.delete(forKey: VaultFiles.masterName)
    let router = folder.router()
    #expect(await code { _ = try await router.get(key) } == .keyUnavailable)
    #expect(await code { try await router.set("2", for: key) } == .keyUnavailable)
    try master.save(Data(repeating: 1, count: 32), forKey: VaultFiles.masterName)
    #expect(await code { _ = try await folder.router().get(key) } == .wrongKey)
    try master.save(kept, forKey: VaultFiles.masterName)
    #expect(try await folder.router().get(key) == "1")
  }

  /// A router that is given these passcodes in turn, the last of them again and again.
  private func router(asking answers: Lock<[String]>) async -> StorageRouter {
    let router = folder.router()
    await router.registerPasscode {
      try SecureBytes(
        Array(answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }.utf8))
    }
    return router
  }

  @Test func anUpdateSealsUnderThePasscodeThatOpenedTheValue() async throws {
    let key = key(
      "x", .keychain(service: "s"),
      .keychain(accessibility: .whenPasscodeSetThisDeviceOnly))
    let answers = Lock(["correct horse"])
    let router = await router(asking: answers)
    try await router.set("1", for: key)
    answers.withLock { $0 = ["correct horse", "corect horse"] }
    try await router.update(key) { $0 = "2" }
    answers.withLock { $0 = ["correct horse"] }
    #expect(try await router.get(key) == "2")
    @Stored(key, router: router) var value: String?
    answers.withLock { $0 = ["correct horse", "corect horse"] }
    try await $value.updateAsync { $0 = "3" }
    answers.withLock { $0 = ["correct horse"] }
    #expect(try await router.get(key) == "3")
    answers.withLock { $0 = ["corect horse"] }
    #expect(await code { try await router.update(key) { $0 = "4" } } == .wrongKey)
    answers.withLock { $0 = ["correct horse"] }
    #expect(try await router.get(key) == "3")
  }

  @Test func valuesOfOneDeclaredSaltHaveKeysOfTheirOwn() throws {
    let sealing = Envelope.Sealing(
      origin: .masterKey, algorithm: .aes256GCM, function: .hkdfSHA256, rounds: 0,
      salt: Array("salt".utf8), info: Array("info".utf8), source: "")
    let material = try SecureBytes([UInt8](repeating: 1, count: 32))
    let one = try DerivedKey(sealing, material, binding: Array("one".utf8))
    let two = try DerivedKey(sealing, material, binding: Array("two".utf8))
    let context = RecordContext(
      store: StoreID([UInt8](repeating: 2, count: StoreID.byteCount))!,
      name: NameHash([UInt8](repeating: 3, count: NameHash.byteCount))!, authenticationTag: [])
    let record = try one.seal(Data([1, 2, 3]).bytes, context)
    let stored = Data(record)
    #expect(throws: StorageError.self) { try two.open(stored.bytes, context) { _ in } }
    var opened = 0
    try one.open(stored.bytes, context) { opened = $0.byteCount }
    #expect(opened == 3)
    // Whose material it is can be told all the same.
    #expect(one.check == two.check)
  }

  @Test(arguments: [32, 64]) func aNewMasterKeyHasTheConfiguredLength(_ length: Int) async throws {
    let router = folder.router()
    await router.updateEncryptionConfiguration(EncryptionConfiguration(masterKeyLength: length))
    try await router.set("1", for: key("x", .userDefaults))
    let master = try VaultFiles.master(in: folder).load(Data.self, forKey: VaultFiles.masterName)
    #expect(master?.count == length)
    // One that is there keeps its own length.
    await router.updateEncryptionConfiguration(
      EncryptionConfiguration(masterKeyLength: 96 - length))
    try await router.set("2", for: key("y", .userDefaults))
    #expect(
      try VaultFiles.master(in: folder).load(Data.self, forKey: VaultFiles.masterName) == master)
  }

  @Test(arguments: [0, 16, 33]) func aMasterKeyOfAnotherLengthIsRefused(_ length: Int) async {
    let router = folder.router()
    await router.updateEncryptionConfiguration(EncryptionConfiguration(masterKeyLength: length))
    #expect(await code { try await router.set("1", for: key("x", .userDefaults)) } == .invalid)
  }

  @Test func whatIsStoredIsOfTheDeclaredCipherAndDerivation() async throws {
    let declared: [(SecurityPolicy, AEADAlgorithm, Envelope.Function, UInt32)] = [
      (.recommended, .chaCha20Poly1305, .hkdfSHA256, 0),
      (.encrypted(.aes256(keyDerivation: .hkdf())), .aes256GCM, .hkdfSHA256, 0),
      (
        .encrypted(.aes256(keyDerivation: .pbkdf2(iterations: 70))), .aes256GCM, .pbkdf2SHA256, 70
      ),
      (
        .encrypted(.chacha20Poly1305(keyDerivation: .pbkdf2())), .chaCha20Poly1305,
        .pbkdf2SHA256, 90
      ),
    ]
    let router = folder.router()
    await router.updateEncryptionConfiguration(EncryptionConfiguration(pbkdf2Iterations: 90))
    let file = folder.url.appendingPathComponent("data/com.example.app/Documents/x")
    for (policy, algorithm, function, rounds) in declared {
      try await router.set("1", for: key("x", .fileSystem(directory: .documents), policy))
      let sealing = try #require(try Envelope(reading: try Data(contentsOf: file)).sealing)
      #expect(sealing.origin == .masterKey)
      #expect(sealing.algorithm == algorithm && sealing.function == function)
      #expect(sealing.rounds == rounds && sealing.salt.count == 32)
    }
  }
}
