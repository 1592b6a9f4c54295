import CryptoCore
import SingletonBackend
import StorageCore
import StorageTesting
import TestSupport
import Testing

/// What a transaction makes of others' writes.
@Suite struct TransactionConflictTests {
  private struct Torn: Error {}

  private let storage = SingletonStorage()

  /// Runs a transaction during whose first run `interfere` writes, after the first read.
  private func runs(
    reading read: (StorageTransaction) throws -> Void,
    interfere: @escaping () throws -> Void,
    then write: (StorageTransaction) throws -> Void = { _ in }
  ) throws -> Int {
    var runs = 0
    try storage.transaction { transaction in
      runs += 1
      try read(transaction)
      if runs == 1 { try elsewhere(interfere) }
      try write(transaction)
    }
    return runs
  }

  @Test func aBodyRunsAgainWhenWhatWasAbsentIsThere() throws {
    for isNewStore in [true, false] {
      try storage.removeAll()
      if !isNewStore { try storage.save(1, forKey: "other") }
      let runs = try runs {
        _ = try $0.load(Int.self, forKey: "read")
      } interfere: {
        try storage.save(2, forKey: "read")
      } then: {
        try $0.save(1, forKey: "written")
      }
      #expect(runs == 2)
    }
  }

  @Test func aBodyRunsAgainWhenWhatItOnlyAskedForWasRemoved() throws {
    try storage.save(1, forKey: "read")
    let runs = try runs {
      _ = try $0.contains("read")
    } interfere: {
      try storage.delete(forKey: "read")
    } then: {
      try $0.save(1, forKey: "written")
    }
    #expect(runs == 2)
  }

  @Test func aTransactionThatOnlyReadsIsOfOneMoment() throws {
    try storage.saveAll(["a": 1, "b": 1])
    var seen: [Int?] = []
    let runs = try runs {
      seen = [try $0.load(forKey: "a")]
    } interfere: {
      try storage.saveAll(["a": 2, "b": 2])
    } then: {
      seen.append(try $0.load(forKey: "b"))
    }
    #expect(runs == 2)
    #expect(seen == [2, 2])
  }

  @Test func anErrorThatComesOfTwoMomentsIsNotShown() throws {
    try storage.saveAll(["a": 1, "b": 1])
    var seen: Int?
    let runs = try runs {
      seen = try $0.load(forKey: "a")
    } interfere: {
      try storage.saveAll(["a": 2, "b": 2])
    } then: {
      guard try $0.load(Int.self, forKey: "b") == seen else { throw Torn() }
    }
    #expect(runs == 2)
  }

  @Test func anErrorOfWhatIsStillSoIsThrownAtOnce() throws {
    try storage.save(1, forKey: "read")
    var runs = 0
    #expect(throws: Torn.self) {
      try storage.transaction { transaction in
        runs += 1
        _ = try transaction.load(Int.self, forKey: "read")
        try storage.save(2, forKey: "not read")
        throw Torn()
      }
    }
    #expect(runs == 1)
  }

  @Test func whatWasNotReadIsReplacedWhateverOthersWrote() throws {
    try storage.save(1, forKey: "k")
    var runs = 0
    try storage.transaction { transaction in
      runs += 1
      try transaction.save(3, forKey: "k")
      try storage.save(2, forKey: "k")
    }
    #expect(runs == 1)
    #expect(try storage.load(forKey: "k") == 3)
  }

  @Test(arguments: [Duration.zero, .milliseconds(500)])
  func othersWritesWithoutEndAreBusyAtTheDeadline(_ deadline: Duration) throws {
    try storage.save(0, forKey: "read")
    var runs = 0
    let failure = code {
      try storage.transaction(deadline: deadline) { transaction in
        runs += 1
        _ = try transaction.load(Int.self, forKey: "read")
        let now = runs
        try elsewhere { try storage.save(now, forKey: "read") }
        try transaction.save(1, forKey: "written")
      }
    }
    #expect(failure == .busy)
    #expect(deadline == .zero ? runs == 1 : runs > 1)
    #expect(try storage.contains("written") == false)
  }

  @Test func keysThatChangeMeanwhileDoNotHurt() throws {
    try storage.save(1, forKey: "read")
    let runs = try runs {
      _ = try $0.load(Int.self, forKey: "read")
    } interfere: {
      _ = try storage.keyAdministration.rotateDataKey()
    } then: {
      try $0.save(2, forKey: "written")
    }
    #expect(runs == 2)
    #expect(try storage.load(forKey: "read") == 1)
    #expect(try storage.load(forKey: "written") == 2)
    #expect(try storage.keyAdministration.reencrypt().reencrypted == 0)
  }

  // MARK: - Threads

  @Test func moneyThatManyThreadsMoveIsNeitherMadeNorLost() throws {
    let storage = storage
    let accounts = (0..<4).map { "account\($0)" }
    for account in accounts { try storage.save(100, forKey: account) }
    Threads.run(6) { thread in
      #expect(throws: Never.self) {
        for step in 0..<100 {
          let (from, to) = (accounts[(thread + step) % 4], accounts[(thread + step * 3 + 1) % 4])
          let sum = try storage.transaction { transaction in
            try transaction.update(Int.self, forKey: from) { $0 = ($0 ?? 0) - step }
            try transaction.update(Int.self, forKey: to) { $0 = ($0 ?? 0) + step }
            return try accounts.reduce(0) {
              $0 + (try transaction.load(Int.self, forKey: $1) ?? 0)
            }
          }
          #expect(sum == 400)
        }
      }
    }
    let sum = try accounts.reduce(0) { $0 + (try storage.load(Int.self, forKey: $1) ?? 0) }
    #expect(sum == 400)
  }

  /// Each reads two keys and writes one: only checks of what is read keep them from both doing it.
  @Test func twoThatReadTheSameAndWriteDifferentKeysDoNotBothSucceed() throws {
    let storage = storage
    for _ in 0..<200 {
      try storage.saveAll(["0": true, "1": true])
      Threads.run(2) { thread in
        #expect(throws: Never.self) {
          try storage.transaction { transaction in
            let both = try ["0", "1"].allSatisfy {
              try transaction.load(Bool.self, forKey: $0) == true
            }
            if both { try transaction.save(false, forKey: "\(thread)") }
          }
        }
      }
      #expect(storage.bool(forKey: "0") != storage.bool(forKey: "1"))
    }
  }
}
