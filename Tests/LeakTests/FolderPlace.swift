import CSQLite
import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import Testing

/// A folder for one store, removed with it, whose files are taken apart into rows and entries.
final class FolderPlace: LeakedPlace {
  typealias Start = @Sendable (URL, SymmetricKey) -> any LeakedProgram

  let url: URL
  private let start: Start

  init(_ start: @escaping Start) throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent(
      UUID().uuidString, isDirectory: true)
    self.start = start
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FolderRemoval.remove(url) }

  func program(_ key: SymmetricKey) -> any LeakedProgram { start(url, key) }

  func twin() throws -> any LeakedPlace {
    let twin = try FolderPlace(start)
    for file in try files() where !file.hasSuffix("-shm") {
      let target = twin.url.appendingPathComponent(file)
      try FileManager.default.createDirectory(
        at: target.deletingLastPathComponent(), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      try FileManager.default.copyItem(at: url.appendingPathComponent(file), to: target)
    }
    return twin
  }

  func contents() throws -> [RawName: Data] {
    var contents: [RawName: Data] = [:]
    for file in try files() where !Self.isBeside(file) {
      let path = url.appendingPathComponent(file)
      let bytes = try Data(contentsOf: path)
      if bytes.starts(with: Data("SQLite format 3".utf8)) {
        for (entry, value) in try RawVault(path).rows() {
          contents[RawName(file: file, entry: entry, isHeader: entry == RawVault.header)] = value
        }
      } else if bytes.starts(with: Data("bplist00".utf8)) {
        for (entry, value) in try Self.entries(bytes) {
          contents[RawName(file: file, entry: entry, isHeader: entry == Self.suiteHeader)] = value
        }
      } else {
        contents[RawName(file: file, isHeader: file.hasSuffix(".key"))] = bytes
      }
    }
    return contents
  }

  func put(_ contents: [RawName: Data]) throws {
    for (file, names) in Dictionary(grouping: contents.keys, by: \.file) {
      let path = url.appendingPathComponent(file)
      let entries = names.filter { !$0.entry.isEmpty }
      if entries.isEmpty {
        try #require(contents[RawName(file: file, isHeader: names[0].isHeader)]).write(to: path)
      } else if file.hasSuffix(".vault") {
        let vault = try RawVault(path)
        for name in entries { try vault.put(name.entry, try #require(contents[name])) }
      } else {
        var list = try Self.entries(Data(contentsOf: path))
        for name in entries { list[name.entry] = contents[name] }
        try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
          .write(to: path)
      }
    }
  }

  private static let suiteHeader = "SecurePropertyStorage"

  /// Files that hold no value: SQLite's and locks.
  private static func isBeside(_ file: String) -> Bool {
    [".lock", "-wal", "-shm", "-notice", ".made"].contains { file.hasSuffix($0) }
      || file.contains("pending/")
  }

  private static func entries(_ bytes: Data) throws -> [String: Data] {
    let list = try unsafe PropertyListSerialization.propertyList(from: bytes, format: nil)
    return try #require(list as? [String: Data])
  }

  private func files() throws -> [String] {
    let all = try FileManager.default.subpathsOfDirectory(atPath: url.path).sorted()
    return all.filter { file in
      var isFolder: ObjCBool = false
      let path = url.path + "/" + file
      return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        && !isFolder.boolValue
    }
  }
}

/// The rows of a vault, for somebody who has SQLite and no key.
@safe
final class RawVault {
  /// The row that leads to the keys.
  static let header = "meta 1"

  private let handle: OpaquePointer

  init(_ url: URL) throws {
    var handle: OpaquePointer?
    try #require(unsafe sqlite3_open(url.path, &handle) == SQLITE_OK)
    unsafe self.handle = try #require(unsafe handle)
    unsafe sqlite3_busy_timeout(self.handle, 60_000)
  }

  deinit { unsafe sqlite3_close(handle) }

  /// All rows that are not removed: `meta <id>` and `record <hash>`.
  func rows() throws -> [String: Data] {
    var rows: [String: Data] = [:]
    let sql = """
      SELECT 'meta ' || id, value FROM meta
      UNION ALL SELECT 'record ' || hex(name), value FROM record WHERE value IS NOT NULL
      """
    try unsafe run(sql) { statement in
      let name = unsafe String(cString: sqlite3_column_text(statement, 0))
      let count = unsafe Int(sqlite3_column_bytes(statement, 1))
      rows[name] =
        unsafe sqlite3_column_blob(statement, 1).map { unsafe Data(bytes: $0, count: count) }
        ?? Data()
    }
    return rows
  }

  /// Puts a row there, as the newest one.
  func put(_ name: String, _ value: Data) throws {
    let parts = name.split(separator: " ")
    let next = "1 + max((SELECT max(sequence) FROM record), (SELECT max(sequence) FROM meta))"
    let blob = "x'" + value.map { String(format: "%02x", $0) }.joined() + "'"
    if parts[0] == "meta" {
      try unsafe run("UPDATE meta SET value = \(blob) WHERE id = \(parts[1])")
    } else {
      try unsafe run("REPLACE INTO record SELECT ifnull(\(next), 1), x'\(parts[1])', \(blob)")
    }
  }

  private func run(_ sql: String, _ row: (OpaquePointer) -> Void = { _ in }) throws {
    var statement: OpaquePointer?
    try #require(unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
    defer { unsafe sqlite3_finalize(statement) }
    var code = unsafe sqlite3_step(statement)
    while code == SQLITE_ROW {
      unsafe row(statement!)
      code = unsafe sqlite3_step(statement)
    }
    try #require(code == SQLITE_DONE)
  }
}
