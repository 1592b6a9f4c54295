import Foundation
import StorageCore
import Testing

@testable import VaultBackend

/// A value that somebody hides in the file while it is removed, and puts back afterwards.
struct HiddenValueTests {
  @Test func theRemovalOfAHiddenValueIsCounted() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    var rows: [(sequence: Int64, name: NameHash, record: [UInt8]?)] = []
    try write(to: tool.vault) { (connection) throws(StorageError) in
      for change in try VaultRows.changes(since: 0, withRecords: true, connection) {
        rows.append((1, change.name, change.kept.record))
      }
      try connection.statement("DELETE FROM record").run()
    }
    #expect(rows.count == 1)
    let removed = try tool.run("remove", "--force", "A")
    #expect(removed.code == 0 && removed.errors.contains("nothing to remove"))
    try write(to: tool.vault) { (connection) throws(StorageError) in
      for row in rows { try VaultRows.set(row.record, for: row.name, sequence: 1, connection) }
    }
    let report = try tool.run("verify")
    #expect(report.code == 2 && report.text.contains("alteredRemoval: "))
  }

  private func write(
    to path: String, _ body: (Connection) throws(StorageError) -> Void
  ) throws(StorageError) {
    let connection = try Connection(path, .readWrite, until: .now + .seconds(60))
    try connection.beginWriting()
    defer { connection.rollBack() }
    try body(connection)
    try connection.commit()
  }
}
