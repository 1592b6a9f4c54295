import Foundation
import TestSupport
import Testing

@testable import VaultBackend

/// What others do to a vault or to its backup, past SQLite, while this process works on them.
@Suite struct MeanwhileTests {
  private let vault = TemporaryVault()
  private var copy: URL { vault.file("copy.vault") }

  private func fill() throws -> VaultStorage {
    let storage = vault.storage()
    for index in 0..<20 { try storage.save("value \(index)", forKey: "key \(index)") }
    return storage
  }

  private func overwrite(_ url: URL, with bytes: [UInt8], at offset: Int = 0) throws {
    let file = try FileHandle(forWritingTo: url)
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data(bytes))
    try file.close()
  }

  // MARK: - Verification

  /// SQLite reads a page again only when somebody wrote by way of it.
  @Test func aVerificationReadsTheFileAndNotWhatItHasRead() throws {
    let storage = try fill()
    try storage.compact()
    #expect(try storage.verify().isSound)
    let size = try vault.bytes().count - VaultSchema.pageSize
    try overwrite(
      vault.url, with: [UInt8](repeating: 0, count: size), at: VaultSchema.pageSize)
    let report = try storage.verify()
    #expect(report.findings.first?.kind == .damagedFile)
  }

  /// Otherwise one who damages a value hides that another was put back beside it.
  @Test func aDamagedValueIsToldWithThoseThatItHides() throws {
    let storage = vault.storage()
    // More than there are parts of the manifest, so that some share one.
    for index in 0..<200 { try storage.save("value \(index)", forKey: "key \(index)") }
    try vault.tamper(
      "UPDATE record SET value = zeroblob(length(value)) WHERE sequence % 10 = 0")
    let finding = try #require(try vault.storage().verify().findings.first)
    #expect(finding.kind == .damagedRecord)
    #expect(finding.message.contains("it is unknown whether"))
  }

  @Test func aHeaderThatIsGoneWithAllRecordsIsNotANewStore() throws {
    try fill().delete(forKey: "key 0")
    try vault.tamper("DELETE FROM meta WHERE id = 1; DELETE FROM record")
    let storage = vault.storage()
    #expect(code { _ = try storage.load(String.self, forKey: "key 1") } == .damaged)
    #expect(code { try storage.save("new", forKey: "key 1") } == .damaged)
    #expect(try storage.verify().findings.map(\.kind) == [.damagedFile])
  }

  // MARK: - Repair

  @Test func aNumberThatLeavesNoRoomIsRepaired() throws {
    let storage = try fill()
    try vault.tamper(
      "UPDATE record SET sequence = \(VaultRows.sequenceLimit - 1) "
        + "WHERE sequence = (SELECT max(sequence) FROM record)")
    let report = try storage.verify()
    #expect(report.findings.first?.kind == .damagedFile)
    try storage.repair(accepting: report)
    #expect(try storage.load(String.self, forKey: "key 19") == "value 19")
    try storage.save("newer", forKey: "key 19")
    #expect(try storage.verify().isSound)
  }

  /// A page at the end that nothing leads to: SQLite calls the file broken, and goes on with it.
  private func breakHarmlessly() throws {
    try fill().compact()
    var bytes = try vault.bytes()
    bytes += [UInt8](repeating: 0, count: VaultSchema.pageSize)
    let count = bytes.count / VaultSchema.pageSize
    // https://sqlite.org/fileformat2.html#in_header_database_size, of less than 256 pages
    bytes[31] = UInt8(count)
    try vault.put(bytes)
  }

  @Test func whatIsWrittenAfterTheVerificationOfABrokenFileIsNotLost() throws {
    try breakHarmlessly()
    let storage = vault.storage()
    let report = try storage.verify()
    #expect(report.findings.first?.kind == .damagedFile)
    try vault.storage().save("newer", forKey: "key 0")
    #expect(code { try storage.repair(accepting: report) } == .busy)
    try storage.repair(accepting: try storage.verify())
    #expect(try storage.load(String.self, forKey: "key 0") == "newer")
    #expect(try storage.verify().isSound)
  }

  @Test func aBrokenFileThatAnotherProcessHasOpenIsNotRepaired() throws {
    try breakHarmlessly()
    let child = try vault.serve()
    _ = try child.ask("save key before")
    let storage = vault.storage(deadline: .milliseconds(100))
    let report = try storage.verify()
    for _ in 0..<2 { #expect(code { try storage.repair(accepting: report) } == .busy) }
    _ = try child.ask("save key after")
    child.kill()
    #expect(try storage.load(String.self, forKey: "key") == "after")
  }

  /// fcntl(2): whoever closes a file gives back all locks that its process has on it.
  @Test func anAttemptToBeAloneThatIsRefusedDoesNotLetTheNextOneIn() throws {
    try fill().delegate.vault().gate.close()
    let file = try VaultFile(vault.url)
    let connection = try Connection(vault.path, .readWrite, until: .now)
    try connection.reading {}
    // By a process of its own, for the same reason.
    let breaking = try Process.run(
      URL(fileURLWithPath: "/bin/dd"),
      arguments: ["if=/dev/zero", "of=\(vault.path)", "count=1", "conv=notrunc", "status=none"])
    breaking.waitUntilExit()
    for _ in 0..<3 {
      #expect(code { _ = try SoleUse(of: file, until: .now + .milliseconds(20)) } == .busy)
    }
    withExtendedLifetime(connection) {}
  }

  /// A source that does something of its own before it gives its key.
  private struct BusySource: KeyProvider {
    let identifier = "busy"
    let errand = Lock<(@Sendable () -> Void)?>(nil)

    func material() throws(StorageError) -> KeyMaterial? {
      errand.withLock { $0 }?()
      return .key(TemporaryVault.key)
    }

    var makesKeys: Bool { true }
    func makeMaterial() throws(StorageError) -> KeyMaterial { .key(TemporaryVault.key) }
  }

  @Test(arguments: [false, true]) func aRepairAsksForTheKeyWhileOthersWork(
    isBroken: Bool
  ) throws {
    let source = BusySource()
    let first = vault.storage(.provider(source))
    for index in 0..<20 { try first.save("value \(index)", forKey: "key \(index)") }
    try vault.tamper(
      isBroken
        ? "DELETE FROM meta WHERE id = 3"
        : "DELETE FROM record WHERE sequence = (SELECT min(sequence) FROM record)")
    let other = vault.storage(.provider(source))
    if !isBroken { #expect(try other.load(String.self, forKey: "key 1") == "value 1") }
    let report = try first.verify()
    #expect(!report.isSound)
    let asked = Lock(0)
    source.errand.withLock {
      $0 = {
        asked.withLock { $0 += 1 }
        // Of the same vault, whose locks nobody may hold now.
        if isBroken {
          #expect(code { _ = try other.load(String.self, forKey: "key 2") } == .damaged)
        } else {
          noError { try other.save("value 2", forKey: "key 2") }
        }
      }
    }
    let late = vault.storage(.provider(source))
    #expect(code { try late.repair(accepting: report) } == (isBroken ? nil : .busy))
    #expect(asked.withLock { $0 } > 0)
    source.errand.withLock { $0 = nil }
    #expect(try late.load(String.self, forKey: "key 2") == "value 2")
  }

  // MARK: - Restoring

  /// What is done to the backup between its verification and its copy, and what is said of it.
  private static let changes: [(SendableChange, StorageError.Code)] = [
    (SendableChange("altered", { try $0($1) }), .busy),
    (
      SendableChange("removed", { _, copy in try FileManager.default.removeItem(at: copy) }),
      .unavailable
    ),
  ]

  private struct SendableChange: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable ((URL) throws -> Void, URL) throws -> Void

    init(
      _ name: String, _ make: @escaping @Sendable ((URL) throws -> Void, URL) throws -> Void
    ) {
      (testDescription, self.make) = (name, make)
    }
  }

  @Test(arguments: changes, [nil, "a broken vault"]) private func aBackupIsWhatWasVerifiedOrNothing(
    _ change: (SendableChange, StorageError.Code), _ before: String?
  ) throws {
    do {
      let storage = try fill()
      try storage.backup(to: copy)
      try storage.backup(to: vault.file("altered.vault"))
    }
    try vault.tamper(
      "DELETE FROM record WHERE sequence = (SELECT min(sequence) FROM record)", "altered.vault")
    let altered = try vault.bytes("altered.vault")
    let place = vault.file("place.vault")
    if let before { try vault.put(Array(before.utf8), "place.vault") }
    let storage = VaultStorage(at: place, keySource: .key(TemporaryVault.key))
    var isDone = false
    let found = code {
      try storage.restore(from: copy) { done, total in
        guard done == total, !isDone else { return }
        isDone = true
        noError { try change.0.make({ try overwrite($0, with: altered) }, copy) }
      }
    }
    #expect(isDone && found == change.1)
    // Not their bytes, which a failure would print.
    let isAsBefore =
      try before.map { try vault.bytes("place.vault") == Array($0.utf8) }
      ?? !vault.entries.contains("place.vault")
    #expect(isAsBefore)
    #expect(!vault.entries.contains { $0.contains("damaged") || $0.hasSuffix(".new") })
  }

  @Test func aRestoreIsSeenByThoseOfTheSameProcessThatOnlyRead() throws {
    try fill().backup(to: copy)
    let reader = vault.storage(access: .readOnly)
    #expect(try reader.load(String.self, forKey: "key 0") == "value 0")
    try overwrite(vault.url, with: [UInt8](repeating: 0x55, count: 100))
    let storage = vault.storage()
    try storage.restore(from: copy)
    try storage.save("newer", forKey: "key 0")
    #expect(try reader.load(String.self, forKey: "key 0") == "newer")
    #expect(try reader.verify().isSound)
  }
}
