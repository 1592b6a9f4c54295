import Foundation
import TestSupport
import Testing
import VaultBackend

@Suite struct ProcessTests {
  private let vault = TemporaryVault()

  private func countUp(_ times: Int) throws {
    let children = try (0..<8).map { _ in
      try helper.start(["count-up", vault.path, "count", "\(times)"])
    }
    for child in children {
      let lines = try child.lines()
      #expect(lines == ["counted"], "\(lines)")
    }
    #expect(try vault.storage().load(Int.self, forKey: "count") == 8 * times)
    #expect(try vault.storage().verify().isSound)
  }

  @Test func processesThatCountUpLoseNoStep() throws { try countUp(Depth.count(200, day: 60)) }

  @Test(.enabled(if: Soak.isOn)) func processesThatCountUpLoseNoStepSoak() throws {
    try countUp(10_000)
  }

  // MARK: - Coherence

  private func pingPong(_ rounds: Int) throws {
    let storage = vault.storage()
    let child = try vault.serve()
    for round in 0..<rounds {
      try #require(try child.ask("save theirs \(round)") == "saved")
      try #require(try storage.load(String.self, forKey: "theirs") == "\(round)")
      try storage.save("\(round)", forKey: "ours")
      try #require(try child.ask("load ours") == "\(round)")
      guard round % 3 == 0 else { continue }
      try #require(try child.ask("delete theirs") == "deleted")
      try #require(try storage.load(String.self, forKey: "theirs") == nil)
      try storage.delete(forKey: "ours")
      try #require(try child.ask("load ours") == "nil")
    }
  }

  @Test func aReadThatStartsAfterAnotherProcesssWriteSeesIt() throws {
    try pingPong(Depth.count(1_000, day: 200))
  }

  @Test(.enabled(if: Soak.isOn)) func aReadThatStartsAfterAnotherProcesssWriteSeesItSoak() throws {
    try pingPong(50_000)
  }

  @Test func whateverAnotherProcessDoesToTheWholeVaultIsSeenByTheNextRead() throws {
    let storage = vault.storage()
    let child = try vault.serve()
    let copy = vault.file("copy.vault").path
    let keys = (0..<30).map { "key-\($0)" }
    for key in keys { try storage.save(key, forKey: key) }
    func expectAll(_ when: Comment) throws {
      for key in keys { #expect(try storage.load(String.self, forKey: key) == key, when) }
      #expect(try child.ask("load key-0") == "key-0", when)
    }
    #expect(try child.ask("backup \(copy)") == "copied")
    for round in 0..<3 {
      #expect(try child.ask("rotate same names") == "rotated")
      try expectAll("names hashed anew, \(round)")
      #expect(try child.ask("rotate-data-key") == "rotated")
      try expectAll("another data key, \(round)")
      #expect(try child.ask("compact") == "compacted")
      try expectAll("compacted, \(round)")
      try storage.save("changed", forKey: "key-0")
      try storage.save("added", forKey: "more")
      #expect(try child.ask("restore \(copy)") == "restored")
      try expectAll("restored, \(round)")
      #expect(try storage.load(String.self, forKey: "more") == nil)
      #expect(try child.ask("change 7") == "changed")
      try expectAll("another slot, \(round)")
    }
    #expect(try storage.verify().isSound)
  }

  @Test func readsGoOnWhileAnotherProcessReplacesAllKeys() throws {
    let storage = vault.storage()
    for index in 0..<100 { try storage.save("value \(index)", forKey: "key-\(index)") }
    let child = try vault.serve()
    let isDone = Lock(false)
    Threads.run(
      2,
      meanwhile: {
        for round in 0..<10 {
          let kind = round % 2 == 0 ? "names" : "data"
          noError {
            let answer = try child.ask("rotate same \(kind)")
            #expect(answer == "rotated")
          }
        }
        isDone.withLock { $0 = true }
      },
      { thread in
        var index = thread
        while !isDone.withLock({ $0 }) {
          index = (index + 1) % 100
          noError {
            let value = try storage.load(String.self, forKey: "key-\(index)")
            #expect(value == "value \(index)")
          }
        }
      })
    #expect(try storage.verify().isSound)
  }

  // MARK: - Waiting

  @Test func aWriterWaitsForAnotherNoLongerThanItsDeadline() throws {
    try vault.storage().save("value", forKey: "key")
    let child = try helper.start(["hold", vault.path])
    #expect(child.nextLine() == "inside")
    for storage in [vault.storage(deadline: .milliseconds(200)), vault.storage(deadline: .zero)] {
      #expect(code { try storage.save("other", forKey: "key") } == .busy)
      #expect(try storage.load(String.self, forKey: "key") == "value")
      #expect(try storage.load(String.self, forKey: "absent") == nil)
    }
    child.release()
    let said = try child.lines()
    #expect(said == ["outside"])
    try vault.storage(deadline: .milliseconds(200)).save("other", forKey: "key")
  }

  /// Locks a whole file, as its first user does while it puts log and file in order.
  private static let holding = """
    import sqlite3, sys
    held = sqlite3.connect(sys.argv[1], isolation_level=None)
    for sql in ["PRAGMA locking_mode = EXCLUSIVE", "BEGIN IMMEDIATE", "DELETE FROM record WHERE 0"]:
        held.execute(sql)
    print("inside", flush=True)
    sys.stdin.read()
    """

  @Test func whoeverOpensAFileThatAnotherHoldsWaitsNoLongerThanItsDeadline() throws {
    try vault.storage().save("value", forKey: "key")
    let child = try Child(["python3", "-c", Self.holding, vault.path])
    #expect(child.nextLine() == "inside")
    for access in [StoreAccess.readWrite, .readOnly] {
      let storage = vault.storage(access: access, deadline: .milliseconds(200))
      #expect(code { _ = try storage.load(String.self, forKey: "key") } == .busy)
    }
    child.kill()
    #expect(try vault.storage().load(String.self, forKey: "key") == "value")
  }

  // MARK: - fork(2)

  @Test func aVaultThatWasOpenBeforeAForkIsAnErrorInTheChild() throws {
    let lines = try vault.run("fork")
    let refused = "error unavailable exited(0); "
    #expect(lines == String(repeating: refused, count: 6) + "sound 1 after")
  }

  @Test func aTransactionOfTheParentIsAnErrorInTheChildAndIsCommittedByTheParent() throws {
    #expect(try vault.run("fork-transaction") == "exited(10) parent sound 1")
  }
}
