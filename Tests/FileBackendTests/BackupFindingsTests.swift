import CryptoCore
import FileBackend
import Foundation
import StorageCore
import Testing

@testable import VaultBackend

/// A backup that leaves out what can't be read makes no old value the latest one.
struct BackupFindingsTests {
  private let place = TemporarySealedFolder()
  private var copyURL: URL { place.parent.appendingPathComponent("copy", isDirectory: true) }
  private var indexURL: URL { place.url.appendingPathComponent("index.vault") }
  private var copy: SealedFolder {
    TemporarySealedFolder.folder(at: copyURL)
  }

  private func rows(_ url: URL) throws -> [NameHash: (sequence: Int64, record: [UInt8])] {
    let connection = try Connection(url.path, .readOnly, until: .now + .seconds(60))
    return try connection.reading { () throws(StorageError) in
      var numbers: [NameHash: Int64] = [:]
      try VaultRows.visitNames(connection) { numbers[$1] = $0 }
      var rows: [NameHash: (sequence: Int64, record: [UInt8])] = [:]
      try VaultRows.visit(connection) { rows[$0] = (numbers[$0] ?? 0, $1) }
      return rows
    }
  }

  /// Changes the rows of the index without a key.
  private func tamper(_ body: (Connection) throws(StorageError) -> Void) throws {
    let connection = try Connection(indexURL.path, .readWrite, until: .now + .seconds(60))
    try connection.beginWriting()
    try body(connection)
    try connection.commit()
  }

  /// A folder whose value "revoked" was put back from an older copy of the file.
  private func rolledBack() throws -> SealedFolder {
    let folder = place.folder()
    try folder.write(pattern(100, 1), named: "revoked")
    try folder.write(pattern(100_000, 2), named: "large")
    try place.index().backup(to: place.file("old.vault"))
    try folder.write(pattern(100, 3), named: "revoked")
    let (old, new) = (try rows(place.file("old.vault")), try rows(indexURL))
    try tamper { (connection) throws(StorageError) in
      for (name, row) in old {
        guard let now = new[name], now.record != row.record else { continue }
        try VaultRows.set(row.record, for: name, sequence: now.sequence, connection)
      }
    }
    #expect(try folder.verify().index.findings.map(\.kind) == [.rolledBackRecord])
    return folder
  }

  private func expectRefused(
    _ folder: SealedFolder, _ kind: VaultReport.Finding.Kind,
    accepting kinds: Set<VaultReport.Finding.Kind> = []
  ) {
    do {
      try folder.backup(to: copyURL, leavingOutUnreadable: true, accepting: kinds)
      Issue.record("it was backed up")
    } catch {
      #expect(error.code == .damaged && error.path == indexURL.path, "\(error)")
      #expect(error.message.contains("accepting: [.\(kind.rawValue)]"), "\(error)")
      #expect(error.message.contains("--accept \(kind.rawValue)"), "\(error)")
    }
    #expect(!FileManager.default.fileExists(atPath: copyURL.path))
  }

  @Test func aValueThatWasPutBackIsNotCopiedAsTheLatestUnlessThatIsSaid() throws {
    let folder = try rolledBack()
    expectRefused(folder, .rolledBackRecord)
    expectRefused(folder, .rolledBackRecord, accepting: [.deletedRecord, .addedRecord])
    let backup = try folder.backup(
      to: copyURL, leavingOutUnreadable: true, accepting: [.rolledBackRecord])
    #expect(backup.accepted.map(\.kind) == [.rolledBackRecord] && backup.isComplete)
    #expect(backup.accepted[0].keys.contains("revoked"))
    #expect(backup.unprovenNames.contains("revoked"))
    #expect(try copy.verify().isSound)
    #expect(try copy.read(named: "revoked") == pattern(100, 1))
    #expect(try copy.read(named: "large") == pattern(100_000, 2))
    // The folder itself is as it was.
    #expect(try folder.verify().index.findings.map(\.kind) == [.rolledBackRecord])
  }

  @Test func aCopyThatAcceptsNothingIsAsTheFolderIs() throws {
    let folder = try rolledBack()
    let backup = try folder.backup(to: copyURL)
    #expect(backup.accepted == [] && backup.isComplete)
    #expect(try copy.verify().index.findings.map(\.kind) == [.rolledBackRecord])
  }

  /// Saves an entry that does not open, of a name in the same part of the manifest as "revoked" or in
  /// another.
  private func addStrange(besideRevoked isBeside: Bool) throws {
    let index = place.index(tag: Data([1]))
    let before = try rows(place.file("old.vault"))
    let now = try rows(indexURL)
    let revoked = try #require(before.keys.max { now[$0]!.sequence < now[$1]!.sequence })
    let part = Manifest.bucket(of: revoked)
    for number in 0... {
      let key = StoreKey("strange \(number)")
      try index.save(Data([1]), forKey: key)
      let name = try #require(try rows(indexURL).keys.first { now[$0] == nil })
      if (Manifest.bucket(of: name) == part) == isBeside { return }
      try index.delete(forKey: key)
    }
  }

  /// The entry that is left out is no reason to accept what was done to another.
  @Test func aDamagedEntryBesideAnOldOneMakesTheOldOneNoBetter() throws {
    let folder = try rolledBack()
    try addStrange(besideRevoked: false)
    expectRefused(folder, .rolledBackRecord)
    let backup = try folder.backup(
      to: copyURL, leavingOutUnreadable: true, accepting: [.rolledBackRecord])
    #expect(backup.unnamedCount == 1 && backup.accepted.map(\.kind) == [.rolledBackRecord])
    #expect(try copy.verify().isSound && copy.listing().unreadable == 0)
  }

  /// Nobody knows which of the two makes the difference.
  @Test func besideADamagedEntryOfItsPartAnOldOneIsNamedAsUnproven() throws {
    let folder = try rolledBack()
    try addStrange(besideRevoked: true)
    let backup = try folder.backup(to: copyURL, leavingOutUnreadable: true)
    #expect(backup.unnamedCount == 1 && backup.unprovenNames.contains("revoked"))
  }

  @Test func anEntryThatSomebodyRemovedIsNotForgottenUnlessThatIsSaid() throws {
    let folder = place.folder()
    for index in 0..<5 { try folder.write(pattern(100, UInt64(index)), named: "\(index)") }
    let name = try #require(try rows(indexURL).keys.first)
    try tamper { (connection) throws(StorageError) in
      try connection.statement("DELETE FROM record WHERE name = ?1").run(.blob(name.bytes))
    }
    expectRefused(folder, .deletedRecord)
    let backup = try folder.backup(
      to: copyURL, leavingOutUnreadable: true, accepting: [.deletedRecord])
    #expect(backup.accepted.map(\.count) == [1])
    #expect(try copy.verify().isSound && copy.names().count == 4)
  }
}
