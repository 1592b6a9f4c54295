import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import TestSupport
import Testing

/// What a slot is made with at least, and that one which is there opens all the same.
@Suite struct PassphraseFloorTests {
  static let weak: [PassphraseDerivation] = [
    .scrypt(cost: 2), .scrypt(cost: 1 << 16), .scrypt(cost: 1 << 15, parallelism: 2),
    .scrypt(cost: 1 << 13, parallelism: 9), .scrypt(cost: 1 << 12, parallelism: 16),
    .scrypt(cost: 1 << 17, blockSize: 4), .scrypt(cost: 1 << 20, blockSize: 1),
    .pbkdf2SHA256(rounds: 1), .pbkdf2SHA256(rounds: 599_999), .pbkdf2SHA512(rounds: 209_999),
    .argon2id(memory: 8, passes: 16, lanes: 1), .argon2id(memory: 19_455, passes: 2),
    .argon2id(memory: 47_103, passes: 1), .argon2id(memory: 7_167, passes: 16),
  ]

  @Test(arguments: weak)
  func aSlotIsNotMadeBelowTheLeast(_ derivation: PassphraseDerivation) throws {
    let delegate = OpenDelegate()
    let weak = KeySource.passphrase("correct horse", derivation: derivation)
    #expect(code { try DelegatedStorage.quiet(delegate, weak).save(1, forKey: "k") } == .invalid)
    #expect(try delegate.header().header == nil)
    let storage = DelegatedStorage.quiet(delegate, .key(.repeating(1)))
    try storage.save(1, forKey: "k")
    let keys = storage.keyAdministration
    #expect(code { try keys.change(to: weak) } == .invalid)
    #expect(code { _ = try keys.add(weak) } == .invalid)
    #expect(code { _ = try keys.rotate(openedBy: weak) } == .invalid)
    #expect(try storage.keyAdministration.slots().map(\.kind) == ["key"])
  }

  @Test func whatOWASPTakesForEquivalentIsTaken() {
    for derivation in [
      PassphraseDerivation.standard, .scrypt(cost: 1 << 16, parallelism: 2),
      .scrypt(cost: 1 << 16, blockSize: 16), .scrypt(cost: 1 << 15, parallelism: 3),
      .scrypt(cost: 1 << 14, parallelism: 5), .scrypt(cost: 1 << 13, parallelism: 10),
      .pbkdf2SHA256(), .pbkdf2SHA512(), .pbkdf2SHA512(rounds: 210_000), .argon2id(),
      .argon2id(memory: 47_104, passes: 1, lanes: 1),
      .argon2id(memory: 19_456, passes: 2, lanes: 1),
      .argon2id(memory: 12_288, passes: 3, lanes: 1), .argon2id(memory: 9_216, passes: 4, lanes: 1),
      .argon2id(memory: 7_168, passes: 5, lanes: 1),
    ] {
      #expect(PassphraseFloor.fault(of: derivation) == nil, "\(derivation)")
    }
  }

  @Test func aShortPassphraseOpensNothingNewWhereverItIsFrom() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("seven77\n", to: "short.key")
    for source in [KeySource.passphrase("seven77"), .file(file)] {
      let delegate = OpenDelegate()
      let storage = DelegatedStorage.quiet(delegate, source)
      do throws(StorageError) {
        try storage.save(1, forKey: "k")
        Issue.record("seven bytes made a slot")
      } catch {
        #expect(error.code == .invalid)
        #expect(error.message.contains("fewer than 8 bytes"))
        #expect(!error.description.contains("seven77"))
      }
      #expect(try delegate.header().header == nil)
    }
    let enough = KeySource.passphrase(
      "eight888", derivation: .pbkdf2SHA512(rounds: 210_000))
    try DelegatedStorage.quiet(OpenDelegate(), enough).save(1, forKey: "k")
  }

  @Test func aWeakSlotThatIsThereOpensAndIsComplainedOfOnce() async {
    await #expect(processExitsWith: .success) {
      let delegate = OpenDelegate()
      let weak = PassphraseDerivation.scrypt(cost: 16).withoutFloor
      try DelegatedStorage.quiet(delegate, .passphrase("correct horse", derivation: weak))
        .save(1, forKey: "k")
      let said = Lock<[StorageError]>([])
      StorageDiagnostics.handler = { error in said.withLock { $0.append(error) } }
      for _ in 0..<3 {
        let storage = DelegatedStorage.quiet(delegate, .passphrase("correct horse"))
        #expect(try storage.load(Int.self, forKey: "k") == 1)
        try storage.save(1, forKey: "k")
        let slot = try storage.keyAdministration.slots()[0]
        #expect(slot.weakness?.contains("N = 16, r = 8, p = 1") == true)
      }
      #expect(said.withLock { $0.map(\.code) } == [.invalid])
      #expect(said.withLock { $0.first?.message.contains("N = 16") } == true)
      let other = OpenDelegate()
      try DelegatedStorage.quiet(other, .passphrase("x", derivation: weak)).save(1, forKey: "k")
      let short = DelegatedStorage.quiet(other, .passphrase("x"))
      #expect(try short.load(Int.self, forKey: "k") == 1)
      #expect(said.withLock { $0.count } == 2)
    }
  }
}
