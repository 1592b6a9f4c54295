import CryptoCore
import StorageTesting
import Testing

@testable import StorageCore

@Suite struct SealReservationTests {
  private let delegate = OpenDelegate()
  private let key = SymmetricKey.repeating(1)

  private func storage(_ algorithm: AEADAlgorithm = .aes256GCM) -> DelegatedStorage {
    .quiet(delegate, .key(key), algorithm: algorithm)
  }

  private func keyset() throws -> Keyset {
    let storage = storage()
    let root = try #require(try storage.store.keys.refresh()?.root)
    return try root.openKeyset(of: StoreHeader(reading: try delegate.headerBytes()))
  }

  /// Sets the seals that the primary key has reserved, as if it had been used for long.
  private func preset(_ seals: UInt64) throws {
    try storage().store.keys.update { (draft, _) throws(StorageError) in
      draft.keyset.entries[draft.keyset.primaryIndex].reservedSeals = seals
    }
  }

  @Test func sealsAreReservedBeforeTheFirstOneIsUsed() throws {
    let storage = storage()
    try storage.open()
    #expect(try keyset().entries[0].reservedSeals == 0)
    delegate.fail(afterCommits: 0)
    #expect(code { try storage.save(1, forKey: "k") } == .io)
    #expect(try keyset().entries[0].reservedSeals >= 1, "the seal that was never kept counts")
  }

  @Test func moreIsReservedThanWasSealedHoweverOftenTheProgramDies() throws {
    var sealed: UInt64 = 0
    for _ in 0..<5 {
      let storage = storage()
      for index in 0..<1500 { try storage.save(index, forKey: "k") }
      sealed += 1500
      #expect(try keyset().entries[0].reservedSeals >= sealed)
    }
    // A storage that dies gives nothing back.
    #expect(try keyset().entries[0].reservedSeals > sealed)
  }

  @Test func reservationsAreRareWrites() throws {
    let storage = storage()
    try storage.save(0, forKey: "k")
    let before = delegate.headerChanges
    for index in 0..<3000 { try storage.save(index, forKey: "k") }
    #expect(delegate.headerChanges - before <= 2, "blocks grow")
  }

  @Test func atTheLimitANewPrimaryKeyTakesOver() throws {
    try storage().save("old", forKey: "old")
    try preset(StoreKeys.sealLimit)
    let storage = storage()
    #expect(try storage.load(forKey: "old") == "old")
    try storage.save("new", forKey: "new")
    let keyset = try keyset()
    try #require(keyset.entries.count == 2 && keyset.primaryID == 2)
    #expect(keyset.entries[0].reservedSeals == StoreKeys.sealLimit)
    #expect(keyset.entries[1].reservedSeals >= 1)
    #expect(try storage.load(forKey: "old") == "old")
    #expect(try self.storage().load(forKey: "new") == "new")
  }

  @Test func noKeyIsEverReservedBeyondTheLimit() throws {
    try storage().save(0, forKey: "k")
    // Less is left than a block.
    try preset(StoreKeys.sealLimit - 100)
    let storage = storage()
    for index in 0..<2000 { try storage.save(index, forKey: "k") }
    let keyset = try keyset()
    #expect(keyset.primaryID == 2)
    for entry in keyset.entries { #expect(entry.reservedSeals <= StoreKeys.sealLimit) }
    #expect(try storage.load(forKey: "k") == 1999)
  }

  @Test(arguments: [StoreKeys.sealLimit + 1, .max - 1024, .max])
  func aCountBeyondTheLimitIsAKeyThatSealsNoMore(_ count: UInt64) throws {
    try storage().save("old", forKey: "old")
    try preset(count)
    let storage = storage()
    try storage.save("new", forKey: "new")
    let keyset = try keyset()
    #expect(keyset.primaryID == 2 && keyset.entries[0].reservedSeals == count)
    #expect(try storage.load(forKey: "old") == "old")
    #expect(try storage.load(forKey: "new") == "new")
  }

  @Test func aReservationThatCantBeKeptSealsNothing() throws {
    let delegate = RefusingHeaders()
    let storage = DelegatedStorage.quiet(delegate, .key(key))
    try storage.open()
    delegate.refuses = true
    #expect(code { try storage.save(1, forKey: "k") } == .full)
    #expect(try delegate.names().isEmpty)
    delegate.refuses = false
    try storage.save(1, forKey: "k")
    #expect(try storage.load(forKey: "k") == 1)
  }

  @Test func anAlgorithmWithoutALimitReservesNothing() throws {
    let storage = storage(.xaes256GCM)
    try storage.open()
    let before = delegate.headerChanges
    for index in 0..<3000 { try storage.save(index, forKey: "k") }
    #expect(delegate.headerChanges == before)
    #expect(try keyset().entries[0].algorithm == .xaes256GCM)
  }

  @Test func theSealsOfManyThreadsAreAllReserved() async throws {
    let storage = storage()
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          #expect(throws: Never.self) {
            for index in 0..<500 { try storage.save(index, forKey: "k\(task)") }
          }
        }
      }
    }
    #expect(try keyset().entries[0].reservedSeals >= 4000)
  }
}
