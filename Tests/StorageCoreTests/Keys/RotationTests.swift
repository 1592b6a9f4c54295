import CryptoCore
import Foundation
import StorageCore
import Testing

@Suite struct RotationTests {
  private let delegate = OpenDelegate()

  private func storage(_ byte: UInt8 = 1) -> DelegatedStorage {
    .quiet(delegate, .key(.repeating(byte)))
  }

  /// A store with values, twenty unless said otherwise.
  private func made(_ count: Int = 20) throws -> DelegatedStorage {
    let storage = storage()
    for index in 0..<count { try storage.save(index, forKey: "k\(index)") }
    return storage
  }

  private func expectAllValues(_ storage: DelegatedStorage, _ count: Int = 20) throws {
    for index in 0..<count { #expect(try storage.load(forKey: "k\(index)") == index) }
  }

  /// The ids of the data keys that the records name.
  private func keyIDs() throws -> Set<[UInt8]> {
    Set(try delegate.records().values.map { Array($0[2..<6]) })
  }

  @Test func rotatingTheDataKeySealsEveryRecordAnew() throws {
    let storage = try made()
    let before = try delegate.records()
    let report = try storage.keyAdministration.rotateDataKey()
    #expect(report.reencrypted == 20 && report.remaining == 0)
    let after = try delegate.records()
    #expect(after.keys == before.keys, "names keep their hashes")
    for (name, record) in before { #expect(after[name] != record) }
    #expect(try keyIDs() == [[0, 0, 0, 2]])
    try expectAllValues(storage)
    try expectAllValues(self.storage())
  }

  @Test func aSecondReencryptionHasNothingToDo() throws {
    let storage = try made()
    _ = try storage.keyAdministration.rotateDataKey()
    let commits = delegate.commits
    let report = try storage.keyAdministration.reencrypt()
    #expect(report.reencrypted == 0 && report.remaining == 0)
    #expect(delegate.commits == commits)
  }

  @Test func replacingTheRootKeyShutsOutEverySlotOfTheOldOne() throws {
    let storage = try made()
    let recovery = try storage.keyAdministration.exportRecoveryKey()
    try storage.keyAdministration.add(.passphrase("x", derivation: .quick))
    let report = try storage.keyAdministration.rotate(openedBy: .key(.repeating(2)))
    #expect(report.reencrypted == 20 && report.remaining == 0)
    try expectAllValues(storage)
    try expectAllValues(self.storage(2))
    #expect(try storage.keyAdministration.slots().count == 1)
    for source in [KeySource.key(.repeating(1)), .recovery(recovery), .passphrase("x")] {
      let old = DelegatedStorage.quiet(delegate, source)
      let refusal = code { _ = try old.load(Int.self, forKey: "k0") }
      #expect(refusal == .wrongKey || refusal == .keyUnavailable)
    }
  }

  @Test func aKeyThatOpensTheStoreAlreadyDoesNotReplaceALeakedOne() throws {
    let storage = try made()
    try storage.keyAdministration.add(.passphrase("x", derivation: .quick))
    let header = try delegate.headerBytes()
    for source in [KeySource.key(.repeating(1)), .passphrase("x")] {
      #expect(code { _ = try storage.keyAdministration.rotate(openedBy: source) } == .invalid)
    }
    #expect(try delegate.headerBytes() == header)
    // In what form it comes does not matter.
    let text = Data(repeating: 1, count: 32).base64EncodedString()
    #expect(
      code { _ = try storage.keyAdministration.rotate(openedBy: .passphrase(text)) } == .invalid)
    let typed = Data(repeating: 2, count: 32).base64EncodedString()
    try storage.keyAdministration.add(.passphrase(typed, derivation: .quick))
    let key = KeySource.key(.repeating(2))
    #expect(code { _ = try storage.keyAdministration.rotate(openedBy: key) } == .invalid)
    // Its own, where that is said.
    _ = try storage.keyAdministration.rotate()
    #expect(try storage.keyAdministration.slots().map(\.kind) == ["key"])
  }

  @Test func aRotationKeepsTheSourceThatOpenedTheStore() throws {
    try made().keyAdministration.change(to: .passphrase("correct horse", derivation: .quick))
    let folder = try TemporaryFolder()
    let ladder = KeySource.firstAvailable([
      .file(folder.file("new.key")), .passphrase("correct horse"),
    ])
    let storage = DelegatedStorage.quiet(delegate, ladder)
    _ = try storage.keyAdministration.rotate()
    #expect(try storage.keyAdministration.slots().map(\.kind) == ["passphrase"])
    #expect(try folder.contents() == [], "no key was made")
    try expectAllValues(DelegatedStorage.quiet(delegate, .passphrase("correct horse")))
  }

  @Test func theOldHeaderPutBackAfterTheRootWasReplacedOpensNothing() throws {
    let storage = try made()
    let old = try delegate.headerBytes()
    _ = try storage.keyAdministration.rotate(openedBy: .key(.repeating(2)))
    try delegate.replaceHeader(with: old)
    #expect(code { _ = try self.storage(1).load(Int.self, forKey: "k0") } == .damaged)
    #expect(code { _ = try self.storage(1).keys() } == .damaged)
  }

  /// It is done, so it is no error that the header can't be looked at again.
  @Test func aChangeOfTheSourceThatIsDoneDoesNotFail() throws {
    let delegate = RefusingHeaders()
    let storage = DelegatedStorage.quiet(delegate, .key(.repeating(1)))
    try storage.save(1, forKey: "k")
    delegate.hidesChanges = true
    try storage.keyAdministration.change(to: .key(.repeating(2)))
    delegate.hidesChanges = false
    #expect(try storage.load(forKey: "k") == 1)
    try storage.save(2, forKey: "k")
    #expect(try DelegatedStorage.quiet(delegate, .key(.repeating(2))).load(forKey: "k") == 2)
    let old = DelegatedStorage.quiet(delegate, .key(.repeating(1)))
    #expect(code { _ = try old.load(Int.self, forKey: "k") } == .wrongKey)
  }

  @Test func whatCantBeOpenedIsKeptWithItsKeyAndCounted() throws {
    let storage = try made()
    let damaged = try #require(try delegate.records().keys.first)
    let tagged = DelegatedStorage.quiet(delegate, .key(.repeating(1)), tag: "tag")
    try tagged.save("tagged", forKey: "t")
    let bytes = [UInt8](repeating: 9, count: 50)
    try delegate.replace(damaged, with: bytes)

    let report = try storage.keyAdministration.rotateDataKey()
    #expect(report.remaining == 2)
    #expect(report.reencrypted == 19)
    #expect(try delegate.records()[damaged] == bytes)
    // Whoever has the tag goes on.
    let next = DelegatedStorage.quiet(delegate, .key(.repeating(1)), tag: "tag")
    #expect(try next.load(forKey: "t") == "tagged")
    #expect(try next.keyAdministration.reencrypt().reencrypted == 1)
    #expect(try next.load(forKey: "t") == "tagged")
  }

  @Test func manyRotationsKeepEveryValueAndOneKey() throws {
    let storage = try made()
    for _ in 0..<20 { _ = try storage.keyAdministration.rotateDataKey() }
    #expect(try keyIDs() == [[0, 0, 0, 21]])
    try expectAllValues(self.storage())
    #expect(try delegate.headerBytes().count < 600, "old data keys are dropped")
  }

  @Test func anEmptyStoreCanBeRotated() throws {
    let storage = storage()
    try storage.open()
    #expect(try storage.keyAdministration.rotateDataKey().reencrypted == 0)
    try storage.save(1, forKey: "k")
    #expect(try self.storage().load(forKey: "k") == 1)
  }
}
