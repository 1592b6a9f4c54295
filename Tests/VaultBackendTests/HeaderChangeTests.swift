import Foundation
import StorageTesting
import TestSupport
import Testing
import VaultBackend

/// What takes the keys of the header while somebody else changes it all the time.
@Suite struct HeaderChangeTests {
  private let vault = TemporaryVault()

  /// Runs `body` over and over while another storage of the vault changes its slot.
  private func whileTheHeaderChanges(_ body: (VaultStorage) throws -> Void) {
    let storage = vault.storage()
    let isDone = Lock(false)
    let changes = Lock(0)
    Threads.run(
      1,
      meanwhile: {
        // Often enough to meet a change between any two steps, also where the other thread is slow.
        var rounds = 0
        while rounds < 300 || (changes.withLock { $0 } < 20 && rounds < 10_000) {
          noError { try body(storage) }
          rounds += 1
        }
        isDone.withLock { $0 = true }
      },
      { _ in
        let other = vault.storage()
        while !isDone.withLock({ $0 }) {
          noError { try other.keyAdministration.change(to: TemporaryVault.source(7)) }
          changes.withLock { $0 += 1 }
        }
      })
    #expect(changes.withLock { $0 } >= 20)
  }

  private func fill() throws {
    let storage = vault.storage()
    for index in 0..<20 { try storage.save("value \(index)", forKey: "key-\(index)") }
  }

  @Test func compactingGoesOn() throws {
    try fill()
    whileTheHeaderChanges { try $0.compact() }
    #expect(try vault.storage().verify().isSound)
  }

  @Test func whatIsMissingIsFound() throws {
    try fill()
    try vault.tamper("DELETE FROM record WHERE sequence = (SELECT min(sequence) FROM record)")
    whileTheHeaderChanges { storage in
      let report = try storage.verify()
      #expect(report.findings.map(\.kind) == [.deletedRecord])
    }
  }

  /// A rotation keeps the data keys of values that the table leaves out, for a repair to find.
  @Test func whatIsLeftOutIsCountedByAReencryption() throws {
    try fill()
    try vault.tamper("DELETE FROM record WHERE sequence = (SELECT min(sequence) FROM record)")
    whileTheHeaderChanges { storage in
      let report = try storage.keyAdministration.reencrypt()
      #expect(report.remaining == 1)
    }
  }

  @Test func whatIsSoundStaysSound() throws {
    try fill()
    whileTheHeaderChanges { storage in
      let report = try storage.verify()
      #expect(report.isSound && report.recordCount == 20)
    }
  }

  /// The same storage, whose keys are the newest ones at once.
  @Test func whatIsSoundStaysSoundWhileTheSameStorageRotates() throws {
    try fill()
    let storage = vault.storage()
    let isDone = Lock(false)
    Threads.run(
      1,
      meanwhile: {
        noError { for _ in 0..<40 { _ = try storage.keyAdministration.rotate(names: true) } }
        isDone.withLock { $0 = true }
      },
      { _ in
        while !isDone.withLock({ $0 }) {
          noError {
            let report = try storage.verify()
            #expect(report.isSound && report.otherTagCount == 0)
          }
        }
      })
  }

  @Test func aRenameOpensWhatAnotherSealsUnderAKeyThatItMakesMeanwhile() throws {
    let other = vault.storage()
    try other.save("value", forKey: "key")
    // It has opened the keys, and changes the header next.
    let delegate = InterruptedVault(vault.delegate()) {
      noError { _ = try other.keyAdministration.rotateDataKey() }
    }
    let storage = DelegatedStorage(delegate, keySource: .key(TemporaryVault.key))
    _ = try storage.keyAdministration.rotate(names: true)
    #expect(delegate.isInterrupted)
    #expect(try storage.load(String.self, forKey: "key") == "value")
    #expect(try other.load(String.self, forKey: "key") == "value")
  }

  @Test func aRepairWaitsForNobodyWhoWaitsForIt() throws {
    try fill()
    let storage = vault.storage()
    var repaired = 0
    let isDone = Lock(false)
    Threads.run(
      2,
      meanwhile: {
        var rounds = 0
        while repaired < 100, rounds < 3_000 {
          rounds += 1
          noError {
            try storage.save("value", forKey: "key")
            try storage.save("value", forKey: "other")
            try vault.tamper(
              "DELETE FROM record WHERE sequence = (SELECT min(sequence) FROM record)")
          }
          // Often somebody has written since it was verified.
          let found = code {
            try storage.repair(accepting: try storage.verify(), droppingUnreadable: true)
            repaired += 1
          }
          #expect(found == nil || found == .busy)
        }
        isDone.withLock { $0 = true }
      },
      { _ in
        // The same storage, whose keys' lock they hold while they wait for their turn.
        while !isDone.withLock({ $0 }) {
          noError { try storage.keyAdministration.change(to: TemporaryVault.source(7)) }
          usleep(.random(in: 0...20_000))
        }
      })
    #expect(repaired == 100)
  }

  @Test func removingAllGoesOn() throws {
    try fill()
    whileTheHeaderChanges { storage in
      try storage.save("value", forKey: "key")
      try storage.removeAll()
      #expect(try storage.load(String.self, forKey: "key") == nil)
    }
    #expect(try vault.storage().verify().isSound)
  }
}

/// A vault whose header somebody else gets to before it is changed for the first time.
private final class InterruptedVault: ForwardingPlace, ManifestPlace {
  private let vault: VaultDelegate
  var base: any RecordPlace { vault }
  private let interruption: Lock<(@Sendable () -> Void)?>

  init(_ base: VaultDelegate, _ interruption: @escaping @Sendable () -> Void) {
    vault = base
    self.interruption = Lock(interruption)
  }

  var isInterrupted: Bool { interruption.withLock { $0 == nil } }

  func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    let interrupt = interruption.withLock { interruption in
      defer { interruption = nil }
      return interruption
    }
    interrupt?()
    return try base.updateHeader(body)
  }

  func adopt(_ keys: ManifestKeys, headerVersion: UInt64) {
    vault.adopt(keys, headerVersion: headerVersion)
  }

  func census() throws(StorageError) -> RecordCensus? { try vault.census() }

  var accountCount: Int { vault.accountCount }

  func accounts(
    _ indices: Range<Int>, headerVersion: UInt64,
    opens: (NameHash, [UInt8]) throws(StorageError) -> Bool
  ) throws(StorageError) -> [RecordAccount]? {
    try vault.accounts(indices, headerVersion: headerVersion, opens: opens)
  }

  var restoration: (number: Int, root: [UInt8])? { vault.restoration }

  func wasRestored(_ keys: ManifestKeys, headerVersion: UInt64) throws(StorageError) -> Bool {
    try vault.wasRestored(keys, headerVersion: headerVersion)
  }
}
