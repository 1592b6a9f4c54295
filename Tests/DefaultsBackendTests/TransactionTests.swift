import CryptoCore
import DefaultsBackend
import Foundation
import StorageCore
import TestSupport
import Testing

@Suite struct TransactionTests {
  private let folder = TemporaryFolder()

  private func storage(deadline: Duration = .seconds(60)) -> UserDefaultsStorage {
    UserDefaultsStorage(folder.delegate(deadline: deadline), keySource: .key(sampleKey))
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
}
