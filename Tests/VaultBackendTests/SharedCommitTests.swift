import Foundation
import TestSupport
import Testing
import VaultBackend

/// Writers that one commit makes durable together.
@Suite struct SharedCommitTests {
  private let vault = TemporaryVault()

  /// How many commits the log's index has counted: https://sqlite.org/walformat.html, `iChange`.
  ///
  /// By a program of its own: to close the file here would give up the locks that SQLite has on it.
  private func commits() throws -> Int {
    let said = try Child.run(["od", "-An", "-tu4", "-j8", "-N4", vault.path + "-shm"])
    return try #require(said.first.flatMap { Int($0.trimmingCharacters(in: .whitespaces)) })
  }

  /// Has all writers come while another process holds the file.
  ///
  /// - Parameters:
  ///   - limit: how many commits they may take at most.
  ///   - writers: what they do.
  /// - Returns: what each of them met.
  /// - Throws: what kept the other process from holding the file.
  private func together(
    inCommits limit: Int, _ writers: [@Sendable () throws -> Void]
  ) throws -> [StorageError.Code?] {
    let before = try commits()
    let child = try helper.start(["hold", vault.path])
    child.waitUntilItSpeaks()
    let met = Lock([StorageError.Code?](repeating: nil, count: writers.count))
    Threads.run(
      writers.count,
      meanwhile: {
        usleep(600_000)
        child.release()
      },
      { thread in
        let found = code { try writers[thread]() }
        met.withLock { $0[thread] = found }
      })
    // Else they did not share one, and nothing was tried here.
    #expect(try commits() - before <= limit)
    return met.withLock { $0 }
  }

  @Test func whatWritersOfOneNameDoInOneCommitIsWhatTheyWouldDoInTurn() throws {
    let storage = vault.storage()
    let names = (0..<40).map { "name-\($0)" }
    try storage.saveAll(Dictionary(uniqueKeysWithValues: names.map { ($0, "0") }))
    let reader = try vault.serve()
    for round in 1...5 {
      let many = Dictionary(
        uniqueKeysWithValues: (names.prefix(20) + ["x"]).map { ($0, "\(round)") })
      let more = Dictionary(
        uniqueKeysWithValues: (names.suffix(25) + ["x"]).map { ($0, "-\(round)") })
      let failures = try together(
        inCommits: 4,
        [
          { try storage.save("1000", forKey: "x") },
          { try storage.save("2000", forKey: "x") },
          { try storage.delete(forKey: "x") },
          { try storage.saveAll(many) },
          { try storage.delete(forKey: "name-3") },
          { try storage.saveAll(more) },
          { try storage.save("3000", forKey: "name-3") },
          { try storage.delete(forKey: "absent") },
        ])
      #expect(failures.allSatisfy { $0 == nil })
      let here = try (names + ["x"]).map { try storage.load(String.self, forKey: $0) }
      let elsewhere = try (names + ["x"]).map { try reader.ask("load \($0)") ?? "gone" }
      #expect(here.map { $0 ?? "nil" } == elsewhere)
      #expect([nil, "1000", "2000", "\(round)", "-\(round)"].contains(here[40]))
      #expect([nil, "3000", "\(round)"].contains(here[3]))
      #expect(here[0] == "\(round)" && here[39] == "-\(round)")
      // The manifest is in step with the rows.
      let report = try storage.verify()
      #expect(report.isSound && report.recordCount == here.count { $0 != nil })
    }
  }

  @Test func aWriterThatMeetsADamagedRowFailsAloneAndTheOthersOfItsCommitDoNot() throws {
    for name in ["one", "two", "bad"] { #expect(try vault.run("save", name, "old") == "saved") }
    let strict = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, "
    try vault.tamper(strict + "') STRICT', ')') WHERE name = 'record'")
    try vault.tamper(
      "UPDATE record SET value = 'text' WHERE sequence = (SELECT max(sequence) FROM record)")
    try vault.tamper(
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || ' STRICT' "
        + "WHERE name = 'record'")
    let storage = vault.storage()
    // The first write of a process sets seals aside, alone.
    try storage.save("newer", forKey: "one")
    // Each alone, once they failed together.
    let failures = try together(
      inCommits: 3,
      [
        { try storage.save("new", forKey: "one") },
        { try storage.save("new", forKey: "bad") },
        { try storage.save("new", forKey: "two") },
        { try storage.save("new", forKey: "three") },
      ])
    #expect(failures == [nil, .damaged, nil, nil])
    for name in ["one", "two", "three"] { #expect(try vault.run("load", name) == "new") }
    #expect(code { _ = try storage.load(String.self, forKey: "bad") } == .damaged)
  }
}
