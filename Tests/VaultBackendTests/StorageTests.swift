import Foundation
import TestSupport
import Testing
import VaultBackend

/// What every storage offers, of a vault that several processes use.
@Suite struct StorageTests {
  private let vault = TemporaryVault()

  @Test func ofProcessesThatStoreWhatIsAbsentOneDoes() throws {
    try vault.storage().save("made", forKey: "other")
    for round in 0..<4 {
      let key = "key-\(round)"
      let children = try (0..<5).map {
        try helper.start(["save-if-absent", vault.path, key, "value-\($0)"])
      }
      let said = try children.map { try $0.lines().joined() }
      #expect(said.count { $0 == "saved" } == 1 && said.count { $0 == "there" } == 4, "\(said)")
      let winner = try #require(said.firstIndex(of: "saved"))
      #expect(try vault.storage().load(String.self, forKey: key) == "value-\(winner)")
    }
  }

  @Test func longWorkTellsHowFarItIs() throws {
    let storage = vault.storage()
    let values = Dictionary(uniqueKeysWithValues: (0..<200).map { ("key \($0)", $0) })
    try storage.saveAll(values)
    let copy = vault.file("copy.vault")
    /// What was told: how many times, and of how many the last was all.
    func told(_ body: (@escaping (Int, Int) -> Void) throws -> Void) throws -> (Int, Int) {
      let steps = Lock<[(done: Int, total: Int)]>([])
      try body { done, total in steps.withLock { $0.append((done, total)) } }
      let all = steps.withLock { $0 }
      #expect(all.map(\.done) == all.map(\.done).sorted())
      let last = try #require(all.last)
      #expect(last.done == last.total)
      return (all.count, last.total)
    }
    let backup = try told { try storage.backup(to: copy, progress: $0) }
    #expect(backup.1 > 10)
    #expect(try told { _ = try storage.verify(progress: $0) }.1 == 200)
    #expect(try told { try storage.restore(from: copy, progress: $0) }.1 == 200)
    let administration = storage.keyAdministration
    for work in [
      try told { _ = try administration.rotateDataKey(progress: $0) },
      try told { _ = try administration.rotate(progress: $0) },
      try told { _ = try storage.keyAdministration.rotate(names: true, progress: $0) },
      try told { _ = try administration.reencrypt(progress: $0) },
    ] {
      #expect(work.0 > 2 && work.1 == 200)
    }
  }
}
