import Foundation
import LocalData
import Testing

@Suite struct PolicyTests {
  private let folder = TestFolder()

  @Test(arguments: Combination.sealingDomains)
  func plainIsRefusedWhereEverythingIsSealed(_ domain: StorageDomain) async {
    #expect(
      await code { try await folder.router().set("1", for: key("x", domain, .none)) }
        == .unsupported)
  }

  @Test(arguments: Combination.plainDomains + [.encryptedFileSystem(directory: .documents)])
  func theKeychainsPolicyIsRefusedElsewhere(_ domain: StorageDomain) async {
    let key = key("x", domain, .keychain(accessibility: .afterFirstUnlock))
    #expect(await code { try await folder.router().set("1", for: key) } == .unsupported)
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

  @Test(arguments: [0, -1, 10_000_001])
  func iterationsOutOfRangeAreRefused(_ iterations: Int) async {
    let key = key(
      "x", .userDefaults, .encrypted(.aes256(keyDerivation: .pbkdf2(iterations: iterations))))
    #expect(await code { try await folder.router().set("1", for: key) } == .invalid)
  }

  @Test func aSaltThatIsTooLongIsRefused() async {
    let key = key(
      "x", .userDefaults,
      .encrypted(.aes256(keyDerivation: .hkdf(salt: Data(repeating: 0, count: 256)))))
    #expect(await code { try await folder.router().set("1", for: key) } == .invalid)
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
}
