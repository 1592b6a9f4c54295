import CSQLite
import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import Testing

/// Where the copies of a store lie.
///
/// A store may know its path, and then all copies take turns at one path: the stage.
private final class Copies: Sendable {
  private let parent: URL
  private let hasStage: Bool
  private let staged = Lock<UUID?>(nil)

  init(takingTurns hasStage: Bool) throws {
    self.hasStage = hasStage
    parent = FileManager.default.temporaryDirectory.appendingPathComponent(
      UUID().uuidString, isDirectory: true)
    try Self.makeFolder(parent)
  }

  deinit { try? FolderRemoval.remove(parent) }

  /// The folder of a copy at the moment.
  func folder(of id: UUID) -> URL {
    let isStaged = staged.withLock { $0 } == id
    return parent.appendingPathComponent(isStaged ? "stage" : id.uuidString, isDirectory: true)
  }

  /// Makes an empty folder for a copy.
  func make(_ id: UUID) throws { try Self.makeFolder(folder(of: id)) }

  /// The folder in which a program of the copy runs; a program of another copy can't go on.
  func use(_ id: UUID) throws -> URL {
    let last = staged.withLock { $0 }
    guard hasStage, last != id else { return folder(of: id) }
    if let last {
      let stage = folder(of: last)
      staged.withLock { $0 = nil }
      try FileManager.default.moveItem(at: stage, to: folder(of: last))
    }
    let place = folder(of: id)
    staged.withLock { $0 = id }
    try FileManager.default.moveItem(at: place, to: folder(of: id))
    return folder(of: id)
  }

  private static func makeFolder(_ url: URL) throws {
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }
}

/// A folder for one store, removed with its last copy, whose files are taken apart into rows and
/// entries.
final class FolderPlace: LeakedPlace {
  typealias Start = @Sendable (URL, SymmetricKey) -> any LeakedProgram

  private let id = UUID()
  private let copies: Copies
  private let start: Start

  /// - Parameters:
  ///   - isPathBound: whether the store knows its path, so that a copy counts only there.
  ///   - start: starts a program on the store in a folder.
  /// - Throws: what keeps the folder from being made.
  convenience init(isPathBound: Bool = false, _ start: @escaping Start) throws {
    try self.init(start, Copies(takingTurns: isPathBound))
  }

  private init(_ start: @escaping Start, _ copies: Copies) throws {
    self.start = start
    self.copies = copies
    try copies.make(id)
  }

  func program(_ key: SymmetricKey) throws -> any LeakedProgram { start(try copies.use(id), key) }

  func twin() throws -> any LeakedPlace {
    let twin = try FolderPlace(start, copies)
    let (source, target) = (copies.folder(of: id), copies.folder(of: twin.id))
    for file in try Self.files(in: source) where !file.hasSuffix("-shm") {
      let copy = target.appendingPathComponent(file)
      try FileManager.default.createDirectory(
        at: copy.deletingLastPathComponent(), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      try FileManager.default.copyItem(at: source.appendingPathComponent(file), to: copy)
    }
    return twin
  }

  func contents() throws -> [RawName: Data] {
    let url = copies.folder(of: id)
    var contents: [RawName: Data] = [:]
    for file in try Self.files(in: url) where !Self.isBeside(file) {
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
    let url = copies.folder(of: id)
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

  private static func files(in url: URL) throws -> [String] {
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
