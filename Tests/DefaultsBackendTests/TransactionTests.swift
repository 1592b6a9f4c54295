import CryptoCore
import DefaultsBackend
import Foundation
import StorageCore
import TestSupport
import Testing

@Suite struct TransactionTests {
  private let folder = TemporaryFolder()

  private func storage(
    _ durability: DefaultsDurability = .immediate, deadline: Duration = .seconds(60)
  ) -> UserDefaultsStorage {
    UserDefaultsStorage(
      folder.delegate(durability, deadline: deadline), keySource: .key(sampleKey))
  }

  private func openAccounts() throws {
    try storage().saveAll([
      "account0": 1_000, "account1": 1_000, "account2": 1_000, "account3": 1_000,
    ])
  }

  /// The sum of all accounts at one moment.
  private func sum(_ storage: UserDefaultsStorage) throws -> Int {
    try storage.transaction { transaction in
      try (0..<4).reduce(0) {
        $0 + (try transaction.load(Int.self, forKey: "account\($1)") ?? 0)
      }
    }
  }

  // MARK: - Processes

  @Test func moneyThatProcessesMoveIsNeitherMadeNorLost() throws {
    try openAccounts()
    let children = try (0..<3).map { _ in try helper.start(["transfer", folder.path, "60"]) }
    let storage = storage()
    for _ in 0..<200 { #expect(try sum(storage) == 4_000) }
    for child in children {
      let said = try child.lines()
      #expect(said == ["transferred"])
    }
    #expect(try sum(storage) == 4_000)
  }

  @Test func aProcessThatIsKilledLeavesAllOfATransactionOrNothing() throws {
    try openAccounts()
    let storage = storage()
    for _ in 0..<60 {
      let child = try helper.start(["transfer", folder.path, "0"])
      child.waitUntilItSpeaks(lines: .random(in: 1...3))
      usleep(.random(in: 0...3_000))
      child.kill()
      _ = try child.lines()
      #expect(try sum(storage) == 4_000)
    }
  }

  @Test func aBodyRunsAgainWhenAnotherProcessChangedWhatItRead() throws {
    try storage().save("1", forKey: "read")
    var runs = 0
    try storage().transaction { transaction in
      runs += 1
      let read = try transaction.load(String.self, forKey: "read")
      if runs == 1 { #expect(try helper.run("save", folder.path, "read", "2") == ["saved"]) }
      try transaction.save(read, forKey: "written")
    }
    #expect(runs == 2)
    #expect(try storage().load(forKey: "written") == "2")
  }

  @Test func aMigrationThatIsKilledAgainAndAgainLosesNothing() throws {
    let count = 3_000
    let stores = ["old", "new"].map {
      UserDefaultsStorage(
        DefaultsDelegate(folder: folder.path, suiteName: $0), keySource: .key(sampleKey))
    }
    var values: [StoreKey: Int] = [:]
    for number in 0..<count { values["k\(number)"] = number }
    try stores[0].saveAll(values)
    var kills = 0
    while try !stores[0].keys().isEmpty, kills < 50 {
      let child = try helper.start(["move", folder.path, "old", "new"])
      if kills > 0 { child.waitUntilItSpeaks() }
      usleep(.random(in: 0...20_000))
      child.kill()
      _ = try child.lines()
      kills += 1
      let kept = try Set(stores[0].keys()).union(stores[1].keys())
      #expect(kept.count == count, "after \(kills) kills")
    }
    let lines = try helper.run("move", folder.path, "old", "new")
    #expect(lines.last?.hasPrefix("removed") == true)
    #expect(try stores[0].keys().isEmpty)
    for (key, value) in values { #expect(try stores[1].load(forKey: key) == value) }
  }

  // MARK: - The file

  @Test func readingNeedsNoLockAndWritesNothing() throws {
    try storage().saveAll(["a": 1, "b": 2])
    let before = folder.bytes
    let lock = try FileLock(folder.file + ".lock", waiting: .seconds(60))
    let other = storage(deadline: .milliseconds(100))
    let sum = try other.transaction { transaction in
      (try transaction.load(Int.self, forKey: "a") ?? 0)
        + (try transaction.load(Int.self, forKey: "b") ?? 0)
        + (try transaction.contains("absent") ? 1 : 0)
    }
    #expect(sum == 3)
    let error = #expect(throws: StorageError.self) {
      try other.transaction { try $0.update(Int.self, forKey: "a") { $0 = 9 } }
    }
    #expect(error?.code == .busy)
    let isUnchanged = folder.bytes == before
    #expect(isUnchanged)
    _ = consume lock
  }

  @Test func aFailedWriteLeavesAllValues() throws {
    try storage().saveAll(["a": 1, "b": 2])
    let before = folder.bytes
    let error = #expect(throws: StorageError.self) {
      try storage().transaction { transaction in
        try transaction.update(Int.self, forKey: "a") { $0 = 3 }
        try transaction.delete(forKey: "b")
        // Others could replace the file.
        #expect(unsafe chmod(folder.path, 0o777) == 0)
      }
    }
    #expect(unsafe chmod(folder.path, 0o700) == 0)
    #expect(error?.code == .denied)
    let isUnchanged = folder.bytes == before
    #expect(isUnchanged)
    #expect(try storage().load(forKey: "a") == 1)
  }

  @Test func removingAllIsOneWrite() throws {
    try storage().saveAll(["a": 1, "b": 2, "c": 3])
    let lock = try FileLock(folder.file + ".lock", waiting: .seconds(60))
    let error = #expect(throws: StorageError.self) {
      try storage(deadline: .milliseconds(100)).removeAll()
    }
    #expect(error?.code == .busy)
    _ = consume lock
    #expect(try storage().keys().count == 3)
    try storage().removeAll()
    #expect(try storage().keys().isEmpty)
    #expect(try helper.run("count", folder.path) == ["0"])
  }
}
