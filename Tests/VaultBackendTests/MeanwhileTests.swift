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

  // MARK: - Restoring

  /// The backup is altered or removed between its verification and its copy.
  @Test(arguments: [false, true], [nil, "a broken vault"]) func aBackupIsWhatWasVerifiedOrNothing(
    isRemoved: Bool, _ before: String?
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
        noError {
          if isRemoved {
            try FileManager.default.removeItem(at: copy)
          } else {
            try overwrite(copy, with: altered)
          }
        }
      }
    }
    #expect(isDone && found == (isRemoved ? .unavailable : .busy))
    // Not their bytes, which a failure would print.
    let isAsBefore =
      try before.map { try vault.bytes("place.vault") == Array($0.utf8) }
      ?? !vault.entries.contains("place.vault")
    #expect(isAsBefore)
    #expect(!vault.entries.contains { $0.contains("damaged") || $0.hasSuffix(".new") })
  }
}
