import Foundation
import TestSupport
import Testing
import VaultBackend

/// System calls fail in turn, by strace's fault injection.
@Suite(.enabled(if: Machine.hasStrace, "needs strace and the right to trace"))
struct FailingCallTests {
  struct Fault: Sendable, CustomTestStringConvertible {
    let calls: String
    let error: String
    /// What may be said when the call fails.
    let codes: Set<String>
    var testDescription: String { "\(calls) \(error)" }
  }

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
    Fault(calls: "fsync,fdatasync", error: "EIO", codes: ["io", "outcomeUnknown"]),
    Fault(calls: "fsync,fdatasync", error: "ENOSPC", codes: ["full", "outcomeUnknown"]),
    Fault(calls: "pwrite64", error: "EIO", codes: ["io", "outcomeUnknown"]),
    Fault(calls: "pwrite64", error: "ENOSPC", codes: ["full", "outcomeUnknown"]),
    Fault(calls: "pwrite64", error: "EROFS", codes: ["readOnly", "io", "outcomeUnknown"]),
    Fault(calls: "ftruncate", error: "EIO", codes: ["io", "outcomeUnknown"]),
    Fault(
      calls: "rename,renameat,renameat2,link,linkat,unlink,unlinkat", error: "EIO",
      codes: ["io", "outcomeUnknown"]),
    Fault(calls: "openat", error: "EMFILE", codes: ["io", "outcomeUnknown"]),
    // SQLite takes an EIO at reading for a broken file system, and that for a broken file.
    Fault(calls: "pread64", error: "EIO", codes: ["io", "outcomeUnknown", "damaged"]),
  ]

  private let vault = TemporaryVault()

  /// Fails each occurrence of the fault's calls, or every `step`th, in a run of its own.
  private func failEach(_ fault: Fault, _ operation: Operation, every step: Int) throws {
    var (occurrence, strides) = (1, Depth.Strides())
    while true {
      try prepare()
      let log = vault.file("strace.log")
      let prefix =
        [
          "strace", "-f", "-qq", "-o", log.path, "-e", "trace=\(fault.calls)", "-e",
          "inject=\(fault.calls):error=\(fault.error):when=\(occurrence)",
        ] + (Self.isOfLoader(fault) ? paths : [])
      let said = try run(operation, prefix)
      let text = try String(contentsOf: log, encoding: .utf8)
      guard text.contains("(INJECTED)") else { break }
      let what: Comment = "\(fault.calls) \(occurrence) in \(operation): \(said)"
      if said.hasPrefix("error ") {
        #expect(fault.codes.contains(String(said.dropFirst("error ".count))), what)
      } else {
        #expect(!said.isEmpty, what)
      }
      try check(operation, said, what)
      occurrence += strides.next(step)
    }
    // Only what puts files in their places changes names.
    let isNeeded = !fault.calls.hasPrefix("rename") || operation == .backup
    #expect(occurrence > 1 || !isNeeded, "no call was hit")
  }

  /// Whether a program makes such calls before it has begun.
  private static func isOfLoader(_ fault: Fault) -> Bool {
    ["openat", "pread64"].contains(fault.calls)
  }

  private var paths: [String] {
    ["test.vault", "copy.vault"].flatMap { name in
      ["", "-wal", "-shm"].flatMap { ["-P", vault.file(name + $0).path] }
    }
  }

  private func prepare() throws {
    for name in vault.entries { try FileManager.default.removeItem(at: vault.file(name)) }
    let storage = vault.storage()
    try storage.save("old", forKey: "key-1")
    for index in 2..<6 { try storage.save("value \(index)", forKey: "key-\(index)") }
    try storage.backup(to: vault.file("copy.vault"))
    try storage.delete(forKey: "key-5")
  }

  private func run(_ operation: Operation, _ prefix: [String]) throws -> String {
    var command = [operation.command[0], vault.path] + operation.command.dropFirst()
    if operation == .backup { command.append(vault.file("copy.vault").path) }
    return try helper.start(command, prefix: prefix).lines().joined(separator: " ")
  }

  private func check(_ operation: Operation, _ said: String, _ what: Comment) throws {
    let isUnknown = said == "error outcomeUnknown"
    let isDone = !said.hasPrefix("error ")
    let keys = [UInt8(7), 9].filter { byte in
      code { _ = try vault.storage(TemporaryVault.source(byte)).load(String.self, forKey: "key-1") }
        == nil
    }
    #expect(keys.count == 1, what)
    // Of a rotation, the first of its steps may be done.
    if operation == .commit || operation == .backup || operation == .compaction {
      #expect(keys == [7], what)
    } else if isDone {
      #expect(keys == [9], what)
    }
    let storage = vault.storage(TemporaryVault.source(try #require(keys.first)))
    let value = try storage.load(String.self, forKey: "key-1")
    if operation == .commit {
      #expect(
        isUnknown ? value == "old" || value == "new" : value == (isDone ? "new" : "old"), what)
    } else {
      #expect(value == "old", what)
    }
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
    let isNew = operation == .backup && isDone
    #expect(isNew ? five == nil : five == "value 5" || operation == .backup && isUnknown, what)
    #expect(try copy.load(String.self, forKey: "key-4") == "value 4", what)
    let isLeft = vault.entries.contains { $0.hasSuffix(".new") }
    #expect(!isLeft || what.rawValue.hasPrefix("killed") || what.rawValue.contains("unlink"), what)
  }

  @Test(arguments: faults) func everyFailingCallOfACommitLeavesTheOldStateOrTheNew(
    _ fault: Fault
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
    _ fault: Fault, _ operation: Operation
  ) throws {
    try failEach(fault, operation, every: 1)
  }

  /// Killed before each write, sync, or change of a name.
  private func killAtEach(_ calls: String, _ operation: Operation, every step: Int) throws {
    var (occurrence, strides) = (1, Depth.Strides())
    while true {
      try prepare()
      let prefix = [
        "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(calls)", "-e",
        "inject=\(calls):signal=KILL:when=\(occurrence)",
      ]
      let said = try run(operation, prefix)
      try check(
        operation, said.isEmpty ? "error outcomeUnknown" : said,
        "killed before \(calls) \(occurrence) of \(operation)")
      guard said.isEmpty else { break }
      occurrence += strides.next(step)
    }
    #expect(occurrence > 1, "no call was hit")
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

  /// A handler that saves was called for each of its own writes, until the stack was full.
  @Test func whyTheLogKeepsAnOldSlotIsToldOnce() throws {
    try vault.storage().save("made", forKey: "key")
    let prefix = [
      "strace", "-f", "-qq", "-o", "/dev/null", "-P", vault.path, "-e", "trace=pwrite64", "-e",
      "inject=pwrite64:error=ENOSPC",
    ]
    #expect(try vault.run("change-told", "8", prefix: prefix) == "told 1")
  }

  // MARK: - Syncs

  private func syncs(_ command: [String]) throws -> Int {
    let log = vault.file("syncs.log")
    let prefix = ["strace", "-f", "-qq", "-o", log.path, "-e", "trace=fsync,fdatasync"]
    #expect(
      try helper.start([command[0], vault.path] + command.dropFirst(), prefix: prefix).lines()
        == ["failures 0"])
    return try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
      .count { $0.contains("sync(") }
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
    let log = vault.file("order.log")
    let prefix =
      ["strace", "-f", "-y", "-qq", "-o", log.path]
      + ["-e", "trace=fsync,fdatasync,pwrite64,write"]
    #expect(try vault.run("save", "key", "other", prefix: prefix) == "saved")
    let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
    let acknowledged = try #require(lines.firstIndex { $0.contains("\"saved\\n\"") })
    let synced = try #require(
      lines[..<acknowledged].lastIndex { $0.contains("sync(") && $0.contains("test.vault-wal>") })
    #expect(lines[synced..<acknowledged].allSatisfy { !$0.contains("test.vault-wal>, ") })
  }
}
