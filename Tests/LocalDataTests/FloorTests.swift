import Foundation
import StorageCore
import StorageTesting
import Testing

@testable import LocalData

/// What somebody with a copy could guess is refused.
@Suite struct FloorTests {
  private let folder = TestFolder()
  private let domain = StorageDomain.fileSystem(directory: .documents)

  private func external(_ derivation: SecurityPolicy.KeyDerivation) -> StoredKey<String> {
    key(
      "secret", domain,
      .encrypted(.external(source: FixedProvider.source, keyDerivation: derivation)))
  }

  private func router(_ material: Data) async -> StorageRouter {
    let router = folder.router(hasFloor: true)
    await router.registerKeyMaterialProvider(
      FixedProvider(material: material), for: FixedProvider.source)
    return router
  }

  @Test(arguments: [1, 1000, 599_999])
  func fewIterationsAreRefusedAtRegistrationAndAtTheFirstValue(_ count: Int) async throws {
    struct Keys { let secret: StoredKey<String> }
    let derivation = SecurityPolicy.KeyDerivation.pbkdf2(iterations: count)
    let declared = [
      key("secret", domain, .encrypted(.aes256(keyDerivation: derivation))),
      key("secret", domain, .encrypted(.chacha20Poly1305(keyDerivation: derivation))),
      external(derivation),
    ]
    for key in declared {
      let router = await router(Data(repeating: 1, count: 32))
      let error = try #require(
        await error { try router.registerKeys(Keys(secret: key)) })
      #expect(error.code == .invalid && error.key == "secret")
      #expect(error.message.contains("600000"))
      #expect(await code { try await router.set("x", for: key) } == .invalid)
      #expect(try await router.get(key) == nil)
    }
    let router = await router(Data(repeating: 1, count: 32))
    await router.updateEncryptionConfiguration(EncryptionConfiguration(pbkdf2Iterations: count))
    #expect(await code { try await router.set("x", for: external(.pbkdf2())) } == .invalid)
    #expect(!folder.files().contains { $0.hasSuffix("Documents/secret") })
  }

  @Test(arguments: [true, false]) func shortMaterialOfAProviderIsRefused(_ isKey: Bool) async throws
  {
    let key = external(isKey ? .hkdf() : .pbkdf2())
    for count in isKey ? [1, 8, 15] : [1, 7] {
      let router = await router(Data(repeating: 0x6B, count: count))
      let error = try #require(await error { try await router.set("x", for: key) })
      #expect(error.code == .invalid && error.key == "secret" && !"\(error)".contains("kkk"))
      #expect(await code { try await router.update(key) { $0 = "x" } } == .invalid)
    }
    for count in isKey ? [16, 32] : [8] {
      let router = await router(Data(repeating: 1, count: count))
      try await router.set("x", for: key)
      #expect(try await router.get(key) == "x")
      try await router.remove(key)
    }
  }

  @Test(arguments: ["1", "1234567"]) func aShortPasscodeIsRefused(_ passcode: String) async throws {
    let key = key(
      "pin", .keychain(service: "s"), .keychain(accessibility: .whenPasscodeSetThisDeviceOnly))
    let router = folder.router(hasFloor: true)
    await router.registerPasscode { try SecureBytes(Array(passcode.utf8)) }
    let error = try #require(await error { try await router.set("x", for: key) })
    #expect(error.code == .invalid && !error.message.contains(passcode + "\""))
    await router.registerPasscode { try SecureBytes(Array("12345678".utf8)) }
    try await router.set("x", for: key)
    #expect(try await router.get(key) == "x")
  }

  /// A value whose head asks for as many iterations as the format allows.
  private func demanding(_ rounds: UInt32) -> Data {
    let sealing = Envelope.Sealing(
      origin: .provider, algorithm: .chaCha20Poly1305, function: .pbkdf2SHA256, rounds: rounds,
      salt: [UInt8](repeating: 1, count: 32), info: [], source: "p")
    return Data(
      Envelope.head(.json, sealing, check: [UInt8](repeating: 2, count: Envelope.checkSize))
        + [UInt8](repeating: 3, count: 60))
  }

  @Test(arguments: [1_200_001, 10_000_000] as [UInt32])
  func aHostileCountOfIterationsIsNotComputed(_ rounds: UInt32) async throws {
    let key = external(.pbkdf2())
    let router = await router(Data("eight ch".utf8))
    try await router.set("x", for: key)
    let file = folder.url.appendingPathComponent("data/com.example.app/Documents/secret")
    let bytes = demanding(rounds)
    try bytes.write(to: file)
    for declared in [key, external(.hkdf())] {
      let error = try #require(await error { _ = try await router.get(declared) })
      #expect(error.code == .damaged && error.message.contains("\(rounds) iterations"))
      #expect(await code { try await router.set("y", for: declared) } == .damaged)
    }
    struct Keys { let secret: StoredKey<String> }
    try router.registerKeys(Keys(secret: key))
    let finding = try await router.audit().findings.first { $0.kind == .damaged }
    #expect(finding?.message.contains("\(rounds) iterations") == true)
    #expect(try Data(contentsOf: file) == bytes)
    try await router.remove(key)
    try await router.set("z", for: key)
    #expect(try await router.get(key) == "z")
  }

  @Test func asManyIterationsAsAreDeclaredAreComputed() async throws {
    let key = external(.pbkdf2(iterations: 1_300_000))
    let router = await router(Data("eight ch".utf8))
    try await router.set("x", for: key)
    #expect(try await self.router(Data("eight ch".utf8)).get(key) == "x")
    // With a lower count, the declaration has to be raised to read it.
    #expect(await code { _ = try await router.get(external(.pbkdf2())) } == .damaged)
  }
}
