import CryptoCore
import Testing

@testable import StorageCore

/// Records that were out of sight while keys were replaced: none is lost, and none is read without
/// being asked for.
struct WithheldNamesTests {
  private let delegate = WithholdingDelegate()
  private let keys = (0..<20).map { "k\($0)" }

  enum Hiding: CaseIterable, Sendable { case all, half }
  enum Rotation: CaseIterable, Sendable { case dataKey, same, other, names, keeping }

  private func storage(_ byte: UInt8 = 1) -> DelegatedStorage {
    .quiet(delegate, .key(.repeating(byte)))
  }

  private func made() throws -> DelegatedStorage {
    let storage = storage()
    for key in keys { try storage.save("value of \(key)", forKey: key) }
    return storage
  }

  private func hide(_ hiding: Hiding) {
    switch hiding {
    case .all: delegate.hide { _ in true }
    case .half: delegate.hide { $0.bytes[0] < 128 }
    }
  }

  private func rotate(
    _ storage: DelegatedStorage, _ rotation: Rotation
  ) throws -> ReencryptionReport {
    switch rotation {
    case .dataKey: try storage.keyAdministration.rotateDataKey()
    case .same: try storage.keyAdministration.rotate()
    case .other: try storage.keyAdministration.rotate(openedBy: .key(.repeating(2)))
    case .names: try storage.keyAdministration.rotate(names: true)
    case .keeping: try storage.keyAdministration.rotate(keepingOldKeys: true)
    }
  }

  @Test(arguments: Hiding.allCases, Rotation.allCases)
  func whatWasOutOfSightIsNotLostAndNotReadUnasked(_ hiding: Hiding, _ rotation: Rotation) throws {
    let storage = try made()
    hide(hiding)
    let hidden = try 20 - delegate.names().count
    try #require(hidden > 0)
    let report = try rotate(storage, rotation)
    #expect(report.reencrypted == 20 - hidden && report.retiredKeyCount == 1)
    delegate.showAll()
    let next = self.storage(rotation == .other ? 2 : 1)
    #expect(try next.listing().unreadable == hidden)
    let readable = keys.filter { key in
      // After a rotation of names there is nothing under the name of now.
      do { return try next.load(String.self, forKey: key) != nil } catch { return false }
    }
    #expect(readable.count == 20 - hidden)
    #expect(try next.keyAdministration.reencrypt().reencrypted == 0, "nobody asked for it")
    #expect(try next.listing().unreadable == hidden)
    let back = try next.keyAdministration.reencrypt(readmitting: true)
    #expect(back.reencrypted == hidden && back.setAside == 0 && back.remaining == 0)
    for key in keys { #expect(try next.load(forKey: key) == "value of \(key)") }
    #expect(try next.listing().unreadable == 0 && next.keys().count == 20)
  }

  @Test func aKeyThatIsReplacedBeforeItsLimitIsNotDroppedEither() throws {
    try made().store.keys.update { (draft, _) throws(StorageError) in
      draft.keyset.entries[draft.keyset.primaryIndex].reservedSeals = StoreKeys.sealLimit
    }
    let storage = storage()
    hide(.all)
    try storage.save("value of k0", forKey: "k0")
    #expect(Set(delegate.records.values.map { $0[5] }) == [1, 2], "a new data key seals")
    // Nothing of the sort leaked, so the old one is valid until all is sealed again.
    for key in keys { #expect(try storage.load(forKey: key) == "value of \(key)") }
    #expect(try storage.keyAdministration.reencrypt().retiredKeyCount == 1)
    delegate.showAll()
    #expect(code { _ = try storage.load(String.self, forKey: "k1") } == .damaged)
    #expect(try storage.keyAdministration.reencrypt(readmitting: true).reencrypted == 19)
    for key in keys { #expect(try storage.load(forKey: key) == "value of \(key)") }
  }

  /// Where the list stays without them, as after somebody wrote it while it was withheld.
  @Test func whatIsNeverListedAgainIsTakenBackByItsName() throws {
    let storage = try made()
    hide(.all)
    _ = try storage.keyAdministration.rotate()
    #expect(try storage.keyAdministration.reencrypt(readmitting: true).reencrypted == 0)
    let report = try storage.keyAdministration.reencrypt(
      readmitting: true, expecting: ["k3", "k7", "absent"])
    #expect(report.reencrypted == 2)
    #expect(try storage.load(forKey: "k3") == "value of k3")
    #expect(code { _ = try storage.load(String.self, forKey: "k4") } == .damaged)
  }

  @Test func whatIsTakenBackReplacesNoNewerValue() throws {
    let storage = try made()
    hide(.all)
    _ = try storage.keyAdministration.rotate(names: true)
    try storage.save("newer", forKey: "k0")
    delegate.showAll()
    let report = try storage.keyAdministration.reencrypt(readmitting: true)
    #expect(report.reencrypted == 19 && report.setAside == 1)
    #expect(try storage.load(forKey: "k0") == "newer")
  }

  // MARK: - How many keys are kept

  /// Adds so many data keys, and retires all but the one that seals now and the last.
  private func retire(_ count: Int, _ storage: DelegatedStorage) throws {
    try storage.store.keys.update { (draft, _) throws(StorageError) in
      let index = draft.keyset.primaryIndex
      for _ in 0..<count { try draft.keyset.addPrimary() }
      draft.keyset.endOthers(as: .retired)
      draft.keyset.entries[index].state = .open
    }
  }

  @Test func aRotationIsRefusedWhenTooManyKeysAreKeptAndSaysWhatToDo() throws {
    let storage = try made()
    _ = try storage.keyAdministration.rotateDataKey()
    try retire(997, storage)
    _ = try storage.keyAdministration.rotateDataKey()
    let (header, records) = (try delegate.header().header, delegate.records)
    for rotation in Rotation.allCases {
      do {
        _ = try rotate(storage, rotation)
        Issue.record("\(rotation) was made")
      } catch let error as StorageError {
        #expect(error.code == .full && error.message.contains("dropRetiredKeys()"))
      }
    }
    #expect(try delegate.header().header == header && delegate.records == records)
    #expect(try storage.keyAdministration.reencrypt().retiredKeyCount == 999)
    // What seals too often is replaced all the same.
    try storage.store.keys.update { (draft, _) throws(StorageError) in
      draft.keyset.entries[draft.keyset.primaryIndex].reservedSeals = StoreKeys.sealLimit
    }
    let other = self.storage()
    try other.save("x", forKey: "x")
    let size = delegate.headerCount
    #expect(try other.keyAdministration.dropRetiredKeys() == 999)
    #expect(delegate.headerCount < size - 999 * 45)
    #expect(try other.keyAdministration.rotate().remaining == 0)
    for key in keys { #expect(try self.storage().load(forKey: key) == "value of \(key)") }
  }

  @Test func aRetiredKeyThatAListedRecordNamesIsNotDropped() throws {
    let storage = try made()
    hide(.half)
    _ = try storage.keyAdministration.rotate()
    delegate.showAll()
    #expect(try storage.keyAdministration.dropRetiredKeys() == 0)
    _ = try storage.keyAdministration.reencrypt(readmitting: true)
    #expect(try storage.keyAdministration.dropRetiredKeys() == 1)
    for key in keys { #expect(try storage.load(forKey: key) == "value of \(key)") }
  }

  @Test func noKeyIsDroppedWhileARecordCannotBeReadAtAll() throws {
    let storage = try made()
    _ = try storage.keyAdministration.rotate()
    let name = try #require(delegate.records.keys.first)
    let record = delegate.records[name]
    delegate.replace(name, with: [9, 9])
    let header = try delegate.header().header
    #expect(code { try storage.keyAdministration.dropRetiredKeys() } == .damaged)
    #expect(try delegate.header().header == header)
    delegate.replace(name, with: record)
    #expect(try storage.keyAdministration.dropRetiredKeys() == 1)
  }

  @Test func aRetiredKeyThatIsDroppedOnPurposeOpensNothing() throws {
    let storage = try made()
    let (name, old) = try #require(delegate.records.first)
    _ = try storage.keyAdministration.rotate()
    #expect(try storage.keyAdministration.dropRetiredKeys() == 1)
    delegate.replace(name, with: old)
    let report = try storage.keyAdministration.reencrypt(readmitting: true)
    #expect(report.reencrypted == 0 && report.setAside == 1)
  }
}
