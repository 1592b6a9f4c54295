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
        let least = Depth.count(300, day: 60)
        while rounds < least || (changes.withLock { $0 } < 20 && rounds < 10_000) {
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

  @Test func removingAllAndCompactingGoOn() throws {
    try fill()
    whileTheHeaderChanges { storage in
      try storage.save("value", forKey: "key")
      try storage.removeAll()
      #expect(try storage.load(String.self, forKey: "key") == nil)
      try storage.compact()
    }
    #expect(try vault.storage().verify().isSound)
  }

  /// A rotation keeps the data keys of values that the table leaves out, for a repair to find.
  @Test func whatIsMissingIsFoundAndCounted() throws {
    try fill()
    try vault.tamper("DELETE FROM record WHERE sequence = (SELECT min(sequence) FROM record)")
    whileTheHeaderChanges { storage in
      let report = try storage.verify()
      #expect(report.findings.map(\.kind) == [.deletedRecord])
      let count = try storage.keyAdministration.reencrypt().remaining
      #expect(count == 1)
    }
  }

  @Test func newNamesAndNewDataKeysAtOnceLoseNothing() throws {
    try fill()
    let storages = [vault.storage(), vault.storage()]
    Threads.run(2) { thread in
      noError {
        for _ in 0..<40 {
          if thread == 0 {
            _ = try storages[0].keyAdministration.rotate(names: true)
          } else {
            _ = try storages[1].keyAdministration.rotateDataKey()
          }
        }
      }
    }
    for index in 0..<20 {
      #expect(try storages[0].load(String.self, forKey: "key-\(index)") == "value \(index)")
    }
    #expect(try vault.storage().verify().isSound)
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
}
