import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import Testing

@Suite struct KeySourceTests {
  /// A source that holds a fixed material.
  private struct Provider: KeyProvider {
    var identifier = "vault"
    var held: KeyMaterial?

    func material() throws(StorageError) -> KeyMaterial? { held }
  }

  @Test func aProviderThatGivesNoKeyOfAStoreIsRefused() throws {
    for count in [0, 1, 31, 33] {
      let key = SymmetricKey(data: Data(repeating: 1, count: count))
      for held in [KeyMaterial.key(key), .passphrase(try SecureBytes([]))] {
        let delegate = OpenDelegate()
        let storage = DelegatedStorage.quiet(delegate, .provider(Provider(held: held)))
        #expect(code { try storage.save(1, forKey: "k") } == .invalid)
        #expect(try delegate.header().header == nil)
      }
    }
  }

  /// A kind of source: made twice from the same secret, and once from another.
  enum Kind: String, CaseIterable, CustomTestStringConvertible {
    case key, text, bytes, closure, providedKey, providedPassphrase, keyFile, passphraseFile

    var testDescription: String { rawValue }

    func source(secret: UInt8, in folder: TemporaryFolder) throws -> KeySource {
      let text = "passphrase \(secret)"
      let secure = try SecureBytes(Array(text.utf8))
      switch self {
      case .key: return .key(.repeating(secret))
      case .text: return .passphrase(text, derivation: .quick)
      case .bytes: return .passphrase(secure, derivation: .quick)
      case .closure:
        return .passphrase(derivation: .quick) { () throws(StorageError) in secure }
      case .providedKey: return .provider(Provider(held: .key(.repeating(secret))))
      case .providedPassphrase: return .provider(Provider(held: .passphrase(secure))).quick
      case .keyFile:
        let encoded = Data([UInt8](repeating: secret, count: 32)).base64EncodedString()
        return .file(try folder.write(encoded + "\n", to: "a.key"))
      case .passphraseFile: return .file(try folder.write(text, to: "a.key")).quick
      }
    }
  }

  @Test(arguments: Kind.allCases)
  func aSourceOpensWhatItMadeAndAnotherSecretIsTheWrongKeyAndChangesNothing(_ kind: Kind) throws {
    let (folder, delegate) = (try TemporaryFolder(), OpenDelegate())
    try DelegatedStorage.quiet(delegate, kind.source(secret: 1, in: folder)).save(7, forKey: "k")
    let again = DelegatedStorage.quiet(delegate, try kind.source(secret: 1, in: folder))
    #expect(try again.load(forKey: "k") == 7)
    let header = try delegate.headerBytes()
    let records = try delegate.records()

    let wrong = DelegatedStorage.quiet(delegate, try kind.source(secret: 2, in: folder))
    #expect(code { _ = try wrong.load(Int.self, forKey: "k") } == .wrongKey)
    #expect(code { try wrong.save(8, forKey: "k") } == .wrongKey)
    #expect(code { try wrong.saveIfAbsent(8, forKey: "new") } == .wrongKey)
    #expect(code { try wrong.delete(forKey: "k") } == .wrongKey)
    #expect(code { try wrong.update(Int.self, forKey: "k") { $0 = 8 } } == .wrongKey)
    #expect(code { _ = try wrong.keys() } == .wrongKey)
    #expect(code { _ = try wrong.contains("k") } == .wrongKey)
    #expect(code { try wrong.open() } == .wrongKey)
    #expect(try delegate.headerBytes() == header)
    #expect(try delegate.records() == records)
  }

  @Test func oneSecretGivenInTwoFormsIsStillTheSameSource() throws {
    let delegate = OpenDelegate()
    try DelegatedStorage.quiet(delegate, .passphrase("a b", derivation: .quick))
      .save(1, forKey: "k")
    let bytes = try SecureBytes(Array("a b".utf8))
    // The derivation of the slot counts, not the one listed now.
    #expect(try DelegatedStorage.quiet(delegate, .passphrase(bytes)).load(forKey: "k") == 1)
  }

  @Test func passphrasesAreNotNormalised() throws {
    let delegate = OpenDelegate()
    try DelegatedStorage.quiet(delegate, .passphrase("caf\u{E9}", derivation: .quick))
      .save(1, forKey: "k")
    let decomposed = DelegatedStorage.quiet(delegate, .passphrase("cafe\u{301}"))
    #expect(code { _ = try decomposed.load(Int.self, forKey: "k") } == .wrongKey)
  }

  @Test(arguments: [0, 8, 128, 192, 264, 512])
  func aKeyOfAnotherSizeIsRefused(_ bits: Int) throws {
    let key = SymmetricKey(data: [UInt8](repeating: 1, count: bits / 8))
    let delegate = OpenDelegate()
    let storage = DelegatedStorage.quiet(delegate, .key(key))
    #expect(code { try storage.save(1, forKey: "k") } == .invalid)
    #expect(try delegate.header().header == nil)
    let plain = DelegatedStorage(PlainDelegate(), symmetricKey: key)
    #expect(code { try plain.save(1, forKey: "k") } == .invalid)
  }

  @Test func anEmptyPassphraseIsRefused() throws {
    for source in [
      KeySource.passphrase("", derivation: .quick),
      .passphrase(try SecureBytes([])),
      .passphrase { () throws(StorageError) in
        try cryptography { () throws(CryptoError) in try SecureBytes([]) }
      },
    ] {
      let delegate = OpenDelegate()
      #expect(code { try DelegatedStorage.quiet(delegate, source).open() } == .invalid)
      #expect(try delegate.header().header == nil)
    }
  }

  @Test func aPassphraseThatNobodyGivesIsUnavailable() throws {
    let delegate = OpenDelegate()
    let silent = KeySource.passphrase { () throws(StorageError) in nil }
    #expect(code { try DelegatedStorage.quiet(delegate, silent).open() } == .keyUnavailable)
    try DelegatedStorage.quiet(delegate, .passphrase("x", derivation: .quick)).save(1, forKey: "k")
    let storage = DelegatedStorage.quiet(delegate, silent)
    #expect(code { _ = try storage.load(Int.self, forKey: "k") } == .keyUnavailable)
  }

  @Test func absurdDerivationsAreRefusedBeforeTheyAreTried() {
    let derivations: [PassphraseDerivation] = [
      .scrypt(cost: 0), .scrypt(cost: 3), .scrypt(cost: 1 << 21), .scrypt(blockSize: 0),
      .scrypt(cost: 1 << 20, blockSize: 32), .scrypt(parallelism: 17), .pbkdf2SHA256(rounds: 0),
      .pbkdf2SHA512(rounds: 10_000_001), .argon2id(memory: 7), .argon2id(memory: 1 << 21),
      .argon2id(passes: 0), .argon2id(lanes: 17), .argon2id(memory: 8, lanes: 2),
    ]
    for derivation in derivations {
      let delegate = OpenDelegate()
      let storage = DelegatedStorage.quiet(delegate, .passphrase("x", derivation: derivation))
      #expect(code { try storage.open() } == .invalid, "\(derivation)")
    }
  }

  @Test(arguments: [
    PassphraseDerivation.pbkdf2SHA256(rounds: 3).withoutFloor,
    .pbkdf2SHA512(rounds: 3).withoutFloor,
  ])
  func everyDerivationOpensWhatItMade(_ derivation: PassphraseDerivation) throws {
    let delegate = OpenDelegate()
    try DelegatedStorage.quiet(delegate, .passphrase("x", derivation: derivation))
      .save(1, forKey: "k")
    #expect(try DelegatedStorage.quiet(delegate, .passphrase("x")).load(forKey: "k") == 1)
    let wrong = DelegatedStorage.quiet(delegate, .passphrase("y"))
    #expect(code { _ = try wrong.load(Int.self, forKey: "k") } == .wrongKey)
  }
}
