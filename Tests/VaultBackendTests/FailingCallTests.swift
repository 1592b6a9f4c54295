import Foundation
import TestSupport
import Testing
import VaultBackend

/// System calls fail in turn, by strace's fault injection.
@Suite(.enabled(if: Machine.hasStrace, "needs strace and the right to trace"))
struct FailingCallTests {
  /// What is done while the calls fail, and what is right afterwards.
  enum Operation: String, Sendable, CaseIterable {
    case commit, rotation, renaming, backup, compaction

    var command: [String] {
      switch self {
      case .commit: ["save", "key-1", "new"]
      case .rotation: ["rotate", "9", "data"]
      case .renaming: ["rotate", "9", "names"]
      case .backup: ["backup"]
      case .compaction: ["compact"]
      }
    }
  }

  static let faults = [
    SystemFault("fsync,fdatasync", error: "EIO", says: "io", "outcomeUnknown"),
    SystemFault("fsync,fdatasync", error: "ENOSPC", says: "full", "outcomeUnknown"),
    SystemFault("pwrite64", error: "EIO", says: "io", "outcomeUnknown"),
    SystemFault("pwrite64", error: "ENOSPC", says: "full", "outcomeUnknown"),
    SystemFault("pwrite64", error: "EROFS", says: "readOnly", "io", "outcomeUnknown"),
    SystemFault("ftruncate", error: "EIO", says: "io", "outcomeUnknown"),
    SystemFault(
      "rename,renameat,renameat2,link,linkat,unlink,unlinkat", error: "EIO",
      says: "io", "outcomeUnknown"),
    SystemFault("openat", error: "EMFILE", says: "io", "outcomeUnknown"),
    // SQLite takes an EIO at reading for a broken file system, and that for a broken file.
    SystemFault("pread64", error: "EIO", says: "io", "outcomeUnknown", "damaged"),
  ]

  private let vault = TemporaryVault()

  /// Fails each of the fault's calls, or every `step`th, in a run of its own.
  private func failEach(_ fault: SystemFault, _ operation: Operation, every step: Int) throws {
    // A program makes some calls before it has begun.
    let isOfLoader = ["openat", "pread64"].contains(fault.calls)
    let (_, failures) = try fault.each(
      every: step, of: isOfLoader ? paths : [], run: { try run(operation, $0) },
      check: { try check(operation, $0) })
    // Only what puts files in their places changes names; a log that stays long does no harm.
    let isNeeded =
      switch fault.calls.prefix(6) {
      case "rename": operation == .backup
      default: fault.calls != "ftruncate"
      }
    #expect(failures > 0 || !isNeeded, "no call failed")
  }

  private var paths: [String] {
    ["test.vault", "copy.vault"].flatMap { name in
      ["", "-wal", "-shm"].map { vault.file(name + $0).path }
    }
  }

  private func run(_ operation: Operation, _ prefix: [String]) throws -> [String] {
    for name in vault.entries { try FileManager.default.removeItem(at: vault.file(name)) }
    let storage = vault.storage()
    try storage.save("old", forKey: "key-1")
    for index in 2..<6 { try storage.save("value \(index)", forKey: "key-\(index)") }
    try storage.backup(to: vault.file("copy.vault"))
    try storage.delete(forKey: "key-5")
    var command = [operation.command[0], vault.path] + operation.command.dropFirst()
    if operation == .backup { command.append(vault.file("copy.vault").path) }
    return try helper.start(command, prefix: prefix).lines()
  }

  private func check(_ operation: Operation, _ run: SystemFault.Run) throws {
    let what: Comment = "\(operation): \(run)"
    #expect(run.isNamed, what)
    let keys = [UInt8(7), 9].filter { byte in
      code { _ = try vault.storage(TemporaryVault.source(byte)).load(String.self, forKey: "key-1") }
        == nil
    }
    #expect(keys.count == 1, what)
    // Of a rotation, the first of its steps may be done.
    if operation == .commit || operation == .backup || operation == .compaction {
      #expect(keys == [7], what)
    } else if run.isDone {
      #expect(keys == [9], what)
    }
    let storage = vault.storage(TemporaryVault.source(try #require(keys.first)))
    let value = try storage.load(String.self, forKey: "key-1")
    #expect(run.allows(value, old: "old", new: operation == .commit ? "new" : "old"), what)
    for index in 2..<5 {
      #expect(try storage.load(String.self, forKey: "key-\(index)") == "value \(index)", what)
    }
    #expect(try storage.load(String.self, forKey: "key-5") == nil, what)
    #expect(try storage.verify().isSound, what)
    _ = try storage.keyAdministration.reencrypt()
    try storage.save("again", forKey: "key-1")
    #expect(try storage.verify().isSound, what)
    // The copy is what it was, or what the vault is.
    let copy = VaultStorage(
      at: vault.file("copy.vault"), keySource: TemporaryVault.source(7), access: .readOnly)
    #expect(try copy.verify().isSound, what)
    let five = try copy.load(String.self, forKey: "key-5")
    #expect(run.allows(five, old: "value 5", new: operation == .backup ? nil : "value 5"), what)
    #expect(try copy.load(String.self, forKey: "key-4") == "value 4", what)
    let isLeft = vault.entries.contains { $0.hasSuffix(".new") }
    #expect(!isLeft || run.said.isEmpty || run.description.contains("unlink"), what)
  }

  @Test(arguments: faults) func everyFailingCallOfACommitLeavesTheOldStateOrTheNew(
    _ fault: SystemFault
  ) throws {
    guard fault.calls != "ftruncate", !fault.calls.hasPrefix("rename") else { return }
    try failEach(fault, .commit, every: fault.calls.hasPrefix("f") ? 1 : 3)
  }

  @Test(arguments: Operation.allCases) func everyFailingSyncLeavesTheOldStateOrTheNew(
    _ operation: Operation
  ) throws {
    try failEach(Self.faults[0], operation, every: operation == .rotation ? 4 : 1)
  }

  @Test(arguments: Operation.allCases) func failingWritesLeaveTheOldStateOrTheNew(
    _ operation: Operation
  ) throws {
    try failEach(Self.faults[2], operation, every: 11)
    try failEach(Self.faults[3], operation, every: 13)
  }

  /// SQLite calls a disk that fails once a broken file, and what it can't read is no junk to be set
  /// aside.
  @Test func aFailingReadEndsNoKeyOfARecord() throws {
    try failEach(Self.faults[8], .rotation, every: 1)
  }

  @Test func aFailingRenameOfABackupLeavesTheOldOne() throws {
    try failEach(Self.faults[6], .backup, every: 1)
  }

  @Test(.enabled(if: Soak.isOn), arguments: faults, Operation.allCases)
  func everyFailingCallLeavesTheOldStateOrTheNewSoak(
    _ fault: SystemFault, _ operation: Operation
  ) throws {
    try failEach(fault, operation, every: 1)
  }

  private func killAtEach(_ calls: String, _ operation: Operation, every step: Int) throws {
    try failEach(.kill(before: calls), operation, every: step)
  }

  @Test(arguments: Operation.allCases)
  func killedBeforeASyncOrAnUnlinkTheVaultOpensAndGoesOn(_ operation: Operation) throws {
    try killAtEach(
      "fsync,fdatasync,ftruncate,rename,renameat,unlink,unlinkat,link,linkat", operation,
      every: operation == .rotation ? 3 : 1)
  }

  @Test(.enabled(if: Soak.isOn), arguments: Operation.allCases)
  func killedBeforeEachCallTheVaultOpensAndGoesOnSoak(_ operation: Operation) throws {
    try killAtEach(
      "pwrite64,fsync,fdatasync,ftruncate,rename,renameat,unlink,unlinkat,link,linkat", operation,
      every: 1)
  }

  // MARK: - Syncs

  private func syncs(_ command: [String]) throws -> Int {
    let found = try SystemFault.list("fsync,fdatasync") {
      try helper.start([command[0], vault.path] + command.dropFirst(), prefix: $0).lines()
    }
    #expect(found.said == ["failures 0"])
    return found.calls.count { $0.contains("sync(") }
  }

  @Test func threadsThatWriteAtTheSameTimeShareTheirSyncs() throws {
    try vault.storage().save("made", forKey: "key")
    let alone = try syncs(["save-threads", "1", "80"])
    let together = try syncs(["save-threads", "8", "80"])
    #expect(alone >= 80, "a write is not durable when it returns: \(alone) syncs for 80")
    #expect(together < 400, "\(together) syncs for 640 writes of 8 threads, \(alone) for 80 of one")
  }

  @Test func aWriteIsDurableBeforeItIsAcknowledged() throws {
    try vault.storage().save("made", forKey: "key")
    let (said, lines) = try SystemFault.list("fsync,fdatasync,pwrite64,write") {
      try helper.run("save", vault.path, "key", "other", prefix: $0)
    }
    #expect(said == ["saved"])
    let acknowledged = try #require(lines.firstIndex { $0.contains("\"saved\\n\"") })
    let synced = try #require(
      lines[..<acknowledged].lastIndex { $0.contains("sync(") && $0.contains("test.vault-wal>") })
    #expect(lines[synced..<acknowledged].allSatisfy { !$0.contains("test.vault-wal>, ") })
  }
}
