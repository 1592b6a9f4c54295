import Foundation
import TestSupport
import Testing
import VaultBackend

/// Transactions of several keys, in several processes, of which any may die at any time.
@Suite struct TransactionTests {
  private static let total = 4_000
  private let vault = TemporaryVault()

  private func openAccounts() throws -> VaultStorage {
    let storage = vault.storage()
    try storage.saveAll([
      "account 0": 1_000, "account 1": 1_000, "account 2": 1_000, "account 3": 1_000,
    ])
    return storage
  }

  private func sum(_ storage: VaultStorage) throws -> Int {
    try storage.transaction { transaction in
      try (0..<4).reduce(0) {
        $0 + (try transaction.load(Int.self, forKey: "account \($1)") ?? 0)
      }
    }
  }

  // MARK: - Killed at any time

  /// Kills processes that move amounts, one at a time or all at once, while this one and others add
  /// up what there is.
  private func killMovers(_ kills: Int, _ generator: inout some RandomNumberGenerator) throws {
    let storage = try openAccounts()
    let readers = try (0..<2).map { _ in try vault.serve() }
    var next = [1, 1, 1]
    func start(_ mover: Int) throws -> Child {
      let child = try helper.start(["transfer-on", vault.path, "\(mover)", "\(next[mover])"])
      child.waitUntilItSpeaks()
      return child
    }
    var movers = try next.indices.map { try start($0) }
    var done = 0
    while done < kills {
      usleep(.random(in: 0...6_000, using: &generator))
      let areAll = Int.random(in: 0..<8, using: &generator) == 0
      let victims = areAll ? Array(next.indices) : [.random(in: next.indices, using: &generator)]
      for mover in victims { movers[mover].kill() }
      for reader in readers { #expect(try reader.ask("sum") == "\(Self.total)") }
      #expect(try sum(storage) == Self.total)
      for mover in victims {
        next[mover] = try check(mover, try movers[mover].lines(), next[mover], storage)
        movers[mover] = try start(mover)
      }
      done += victims.count
    }
    for mover in movers { mover.kill() }
    for mover in movers { _ = try mover.lines() }
    // One that has nothing in memory yet.
    #expect(try vault.run("sum") == "\(Self.total)")
    #expect(next.allSatisfy { $0 > 1 }, "too little was moved for this to mean much")
    #expect(try storage.verify().isSound)
  }

  /// - Returns: the step that the mover is to go on with.
  private func check(
    _ mover: Int, _ said: [String], _ first: Int, _ storage: VaultStorage
  ) throws -> Int {
    #expect(!said.contains { $0.hasPrefix("error") }, "\(said.suffix(2))")
    let acknowledged = said.compactMap { Int($0) }.last ?? first - 1
    let last = try storage.load(Int.self, forKey: "writer \(mover) last") ?? 0
    let moved = try storage.load(Int.self, forKey: "writer \(mover) moved") ?? 0
    // The one after the last may have been made and not said.
    #expect(last == acknowledged || last == acknowledged + 1, "of mover \(mover)")
    #expect(moved == (0...last).reduce(0, +), "a step of mover \(mover) was made in part, or twice")
    return last + 1
  }

  @Test func theSumIsTheSameForAllReadersWhileThoseThatMoveAmountsAreKilled() throws {
    var generator = SystemRandomNumberGenerator()
    try killMovers(Depth.count(40, day: 12), &generator)
  }

  @Test(.enabled(if: Soak.isOn))
  func theSumIsTheSameForAllReadersWhileThoseThatMoveAmountsAreKilledSoak() throws {
    var generator = SystemRandomNumberGenerator()
    try killMovers(2_000, &generator)
  }

  // MARK: - Killed inside

  @Test func aProcessThatDiesInTheBodyOfATransactionChangesNothingAndBlocksNobody() throws {
    let storage = try openAccounts()
    let other = try vault.serve()
    for round in 1...3 {
      #expect(try vault.run("die-in-transaction") == "")
      #expect(try storage.load(Int.self, forKey: "account 0") == 1_000)
      #expect(try other.ask("sum") == "\(Self.total)")
      #expect(try other.ask("transfer 0 \(round * 12)") == "transferred")
      try storage.transaction { try $0.save(round, forKey: "round") }
      try storage.update(Int.self, forKey: "account 0") { $0 = 1_000 }
      try storage.saveAll(["account 1": 1_000, "account 2": 1_000, "account 3": 1_000])
    }
    #expect(try storage.verify().isSound)
  }

  @Test(.enabled(if: Machine.hasStrace, "needs strace and the right to trace"))
  func aProcessThatDiesInItsCommitMovesAllOrNothingAndBlocksNobody() throws {
    let storage = try openAccounts()
    let other = try vault.serve()
    var (round, moved) = (0, 0)
    let (kills, _) = try SystemFault.kill(before: "pwrite64,fsync,fdatasync,ftruncate,write").each {
      round += 1
      return try [vault.run("transfer", "0", "\(round)", prefix: $0)]
    } check: { run in
      #expect(try other.ask("sum") == "\(Self.total)", "\(run)")
      #expect(try sum(storage) == Self.total, "\(run)")
      let last = try storage.load(Int.self, forKey: "writer 0 last") ?? 0
      if last == round { moved += round }
      let sum = try storage.load(Int.self, forKey: "writer 0 moved") ?? 0
      #expect(sum == moved, "\(run)")
      #expect(try other.ask("save next \(round)") == "saved", "\(run)")
      try storage.save(round, forKey: "ours")
      #expect(run.isHit || run.said == "transferred", "\(run)")
    }
    #expect(kills > Depth.count(3, day: 0), "no call was hit")
    #expect(try storage.verify().isSound)
  }
}
