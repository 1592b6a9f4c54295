import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import Testing

@Suite struct SlotTests {
  private let delegate = OpenDelegate()

  private func storage(_ byte: UInt8) -> DelegatedStorage {
    .quiet(delegate, .key(.repeating(byte)))
  }

  private func made() throws -> DelegatedStorage {
    let storage = storage(1)
    try storage.save("kept", forKey: "k")
    return storage
  }

  private func expectOpens(_ byte: UInt8, _ opens: Bool = true) {
    var value: String?
    let failure = code { value = try storage(byte).load(forKey: "k") }
    #expect(value == (opens ? "kept" : nil))
    #expect(failure == (opens ? nil : .wrongKey))
  }

  @Test func anAddedSlotOpensTheStoreBesideTheOld() throws {
    let slot = try made().keyAdministration.add(.key(.repeating(2)))
    #expect(slot.id == 2 && slot.kind == "key" && slot.identifier.isEmpty)
    expectOpens(1)
    expectOpens(2)
    expectOpens(3, false)
    #expect(try storage(2).keyAdministration.slots().map(\.id) == [1, 2])
  }

  @Test func whatOpensTheStoreAlreadyIsNoNewSlot() throws {
    let storage = try made()
    try storage.keyAdministration.add(.passphrase("x", derivation: .quick))
    let recovery = try storage.keyAdministration.exportRecoveryKey()
    let header = try delegate.headerBytes()
    for source in [KeySource.key(.repeating(1)), .passphrase("x"), .recovery(recovery)] {
      let failure = error { try storage.keyAdministration.add(source) }
      #expect(failure?.code == .invalid)
      #expect(failure?.message.contains("already opens the store, by slot") == true)
    }
    #expect(try delegate.headerBytes() == header)
    try storage.keyAdministration.add(.passphrase("y", derivation: .quick))
    // From another place, which the store would not ask otherwise.
    let folder = try TemporaryFolder()
    try folder.write(Data(repeating: 1, count: 32).base64EncodedString(), to: "same.key")
    let file = KeySource.file(folder.file("same.key"))
    try storage.keyAdministration.add(file)
    #expect(try DelegatedStorage.quiet(delegate, file).load(forKey: "k") == "kept")
  }

  @Test func aStorageTellsTheSlotOfItsOwnSource() throws {
    let administration = try made().keyAdministration
    let folder = try TemporaryFolder()
    let absent = KeySource.file(folder.file("a.key"))
    let more = [
      KeySource.passphrase("x", derivation: .quick), .passphrase("y", derivation: .quick),
    ]
    let slots = try administration.slots() + more.map { try administration.add($0) }
    for (source, slot) in zip([KeySource.key(.repeating(1))] + more, slots) {
      let own = { try DelegatedStorage.quiet(delegate, $0).keyAdministration.ownSlot() }
      #expect(try own(source) == slot)
      #expect(try own(.firstAvailable([absent, source])) == slot)
    }
    #expect(code { _ = try self.storage(2).keyAdministration.ownSlot() } == .wrongKey)
    let none = DelegatedStorage.quiet(delegate, absent).keyAdministration
    #expect(code { _ = try none.ownSlot() } == .keyUnavailable)
    let new = DelegatedStorage.quiet(OpenDelegate(), absent).keyAdministration
    #expect(try new.ownSlot() == nil)
    #expect(try folder.contents() == [], "no key was made")
  }

  @Test func aRemovedSlotNoLongerOpens() throws {
    let storage = try made()
    try storage.keyAdministration.add(.key(.repeating(2)))
    try storage.keyAdministration.remove(1)
    expectOpens(1, false)
    expectOpens(2)
    #expect(try storage.load(forKey: "k") == "kept", "what is open stays open")
  }

  @Test func theLastSlotCantBeRemoved() throws {
    let storage = try made()
    let header = try delegate.headerBytes()
    #expect(code { try storage.keyAdministration.remove(1) } == .invalid)
    #expect(try delegate.headerBytes() == header)
    expectOpens(1)
  }

  @Test(arguments: [0, 2, .max] as [UInt32])
  func aSlotThatIsNotThereCantBeRemoved(_ id: UInt32) throws {
    let storage = try made()
    try storage.keyAdministration.add(.passphrase("x", derivation: .quick))
    try storage.keyAdministration.add(.passphrase("y", derivation: .quick))
    try storage.keyAdministration.remove(2)
    let header = try delegate.headerBytes()
    #expect(code { try storage.keyAdministration.remove(id) } == .invalid)
    #expect(try delegate.headerBytes() == header)
  }

  @Test func aStoreHasAtMost32Slots() throws {
    let storage = try made()
    for byte in 2...32 { try storage.keyAdministration.add(.key(.repeating(UInt8(byte)))) }
    let header = try delegate.headerBytes()
    #expect(code { try storage.keyAdministration.add(.key(.repeating(33))) } == .full)
    #expect(code { _ = try storage.keyAdministration.exportRecoveryKey() } == .full)
    #expect(try delegate.headerBytes() == header)
    expectOpens(1)
    expectOpens(32)
    expectOpens(33, false)
    try storage.keyAdministration.remove(7)
    #expect(try storage.keyAdministration.add(.key(.repeating(33))).id == 33)
    expectOpens(33)
    // A change makes room for itself: slots that somebody filled up don't keep a key from changing.
    try storage.keyAdministration.change(to: .key(.repeating(34)))
    expectOpens(34)
    expectOpens(33, false)
  }

  @Test func changingTheSourceShutsOutTheOldOneAndLeavesTheRecords() throws {
    let storage = try made()
    try storage.keyAdministration.add(.passphrase("x", derivation: .quick))
    let records = try delegate.records()
    try storage.keyAdministration.change(to: .key(.repeating(2)))
    expectOpens(1, false)
    expectOpens(2)
    let passphrase = DelegatedStorage.quiet(delegate, .passphrase("x"))
    #expect(code { _ = try passphrase.load(String.self, forKey: "k") } == .keyUnavailable)
    #expect(try storage.keyAdministration.slots().count == 1)
    #expect(try delegate.records() == records)
    try storage.save("kept", forKey: "another")
  }

  @Test func aSourceThatGivesNothingChangesNothing() throws {
    let storage = try made()
    let header = try delegate.headerBytes()
    let none = KeySource.passphrase { () throws(StorageError) in nil }
    let locked = KeySource.passphrase { () throws(StorageError) in
      throw StorageError(.locked, "on cue")
    }
    let administration = storage.keyAdministration
    #expect(code { try administration.add(none) } == .keyUnavailable)
    #expect(code { try administration.change(to: none) } == .keyUnavailable)
    #expect(code { try administration.change(to: locked) } == .locked)
    #expect(code { _ = try administration.rotate(openedBy: none) } == .keyUnavailable)
    #expect(try delegate.headerBytes() == header)
    expectOpens(1)
  }

  @Test func whoCantOpenTheStoreCantChangeItsSlots() throws {
    _ = try made()
    let header = try delegate.headerBytes()
    let thief = storage(2).keyAdministration
    #expect(code { try thief.add(.key(.repeating(2))) } == .wrongKey)
    #expect(code { try thief.change(to: .key(.repeating(2))) } == .wrongKey)
    #expect(code { try thief.remove(1) } == .wrongKey)
    #expect(code { _ = try thief.rotateDataKey() } == .wrongKey)
    #expect(code { _ = try thief.rotate(openedBy: .key(.repeating(2))) } == .wrongKey)
    #expect(code { _ = try thief.exportRecoveryKey() } == .wrongKey)
    #expect(try delegate.headerBytes() == header)
  }

  @Test func aNewStoreHasNoSlotsAndNothingToAdminister() throws {
    let administration = storage(1).keyAdministration
    #expect(try administration.slots().isEmpty)
    #expect(code { try administration.add(.key(.fresh)) } == .keyUnavailable)
    #expect(code { _ = try administration.rotateDataKey() } == .keyUnavailable)
    #expect(try delegate.header().header == nil)
  }

  @Test func aStoreWithoutAHeaderHasNothingToAdminister() throws {
    let storage = DelegatedStorage(PlainDelegate(), symmetricKey: .fresh)
    try storage.save(1, forKey: "k")
    let administration = storage.keyAdministration
    #expect(code { _ = try administration.slots() } == .unsupported)
    #expect(code { try administration.add(.key(.fresh)) } == .unsupported)
    #expect(code { try administration.remove(1) } == .unsupported)
    #expect(code { _ = try administration.rotateDataKey() } == .unsupported)
    #expect(code { _ = try administration.reencrypt() } == .unsupported)
  }
}
