import CryptoCore
import Foundation
import Observation
import StorageCore
import TestSupport
import Testing
import VaultBackend

/// A vault whose file is replaced whole, or removed, under programs that only read it.
struct ReplacedFileTests {
  private let vault = TemporaryVault()
  /// Long for a machine that is busy.
  private let limit = Duration.seconds(120)

  /// Moves the vault's file and those beside it away, the log first.
  private func moveAway() throws {
    for suffix in ["-wal", "-shm", ""] {
      let file = vault.file("test.vault" + suffix)
      guard FileManager.default.fileExists(atPath: file.path) else { continue }
      try FileManager.default.moveItem(at: file, to: vault.file("old.vault" + suffix))
    }
  }

  /// Makes another vault in the folder, in which nobody has anything open.
  private func makeOther(_ commands: String...) throws -> URL {
    let other = vault.file("other.vault")
    for command in commands {
      let words = command.split(separator: " ").map(String.init)
      #expect(try helper.start([words[0], other.path] + words.dropFirst()).lines() == ["saved"])
    }
    return other
  }

  private func put(_ other: URL) throws {
    // rename(2), which puts it in the place of what is there.
    #expect(unsafe rename(other.path, vault.path) == 0)
  }

  @Test
  func aReaderSeesWhatOthersWriteToTheFileThatTookThePlaceOfItsOwn() throws {
    #expect(try vault.run("save", "key", "old") == "saved")
    let storage = vault.storage()
    #expect(try storage.load(String.self, forKey: "key") == "old")
    #expect(try storage.load(String.self, forKey: "other") == nil)
    let other = try makeOther("save key put")
    try moveAway()
    try put(other)
    // No later than with the next tick of the clock.
    #expect(waits(limit) { (try? storage.load(String.self, forKey: "key")) == "put" })
    let child = try vault.serve()
    #expect(try child.ask("save key written") == "saved")
    #expect(try storage.load(String.self, forKey: "key") == "written")
    #expect(try child.ask("save other written") == "saved")
    #expect(try storage.load(String.self, forKey: "other") == "written")
  }

  /// Nobody reads meanwhile, and nobody writes through the storage that is observed.
  @Test
  func aLiveReaderFollowsTheFileThatTookThePlaceOfItsOwn() async throws {
    let storage = vault.storage()
    let live = Live(wrappedValue: "none", storage, "key")
    let absent = Live(wrappedValue: "none", storage, "other")
    let child = try vault.serve()
    #expect(try child.ask("save key old") == "saved")
    #expect(waits(limit) { live.wrappedValue == "old" })
    #expect(absent.wrappedValue == "none")
    var values = Observations { live.wrappedValue + " " + absent.wrappedValue }
      .makeAsyncIterator()
    #expect(await values.next() == "old none")
    let other = try makeOther("save key put", "save other put")
    child.release()
    _ = try child.lines()
    try moveAway()
    try put(other)
    while await values.next() != "put put" {}
    let next = try vault.serve()
    #expect(try next.ask("save key written") == "saved")
    while await values.next() != "written put" {}
    #expect(try storage.load(String.self, forKey: "key") == "written")
  }

  @Test func aLiveReaderIsToldThatTheVaultIsGone() async throws {
    #expect(try vault.run("save", "key", "old") == "saved")
    let live = Live<String?, VaultStorage>(vault.storage(), "key")
    #expect(live.wrappedValue == "old")
    var values = Observations { live.state }.makeAsyncIterator()
    #expect(await values.next() == .value("old"))
    try moveAway()
    while await values.next() != .absent {}
    #expect(live.wrappedValue == nil)
    // And that it is there again.
    for suffix in ["-wal", "-shm", ""] {
      _ = unsafe rename(vault.file("old.vault" + suffix).path, vault.path + suffix)
    }
    while await values.next() != .value("old") {}
  }

  /// What was not in the file itself yet is lost when its log is left behind, which no default may
  /// hide.
  @Test
  func aLiveReaderIsToldThatTheVaultIsGoneAndItsLogIsNot() async throws {
    let child = try vault.serve()
    #expect(try child.ask("save key old") == "saved")
    let live = Live<String?, VaultStorage>(vault.storage(), "key")
    let changes = Live<String?, VaultStorage>(vault.storage(), "key")
    #expect(live.wrappedValue == "old")
    var values = Observations { live.state }.makeAsyncIterator()
    var states = changes.states.makeAsyncIterator()
    #expect(await values.next() == .value("old"))
    #expect(await states.next() == .value("old"))
    let away = vault.file("old.vault")
    try FileManager.default.moveItem(at: vault.url, to: away)
    while true {
      guard case .failed(let error) = await values.next() else { continue }
      #expect(error.code == .damaged)
      break
    }
    guard case .failed = await states.next() else {
      Issue.record("no failure was told")
      return
    }
    try FileManager.default.moveItem(at: away, to: vault.url)
    while await values.next() != .value("old") {}
    #expect(await states.next() == .value("old"))
  }
}
