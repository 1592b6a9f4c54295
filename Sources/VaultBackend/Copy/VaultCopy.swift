internal import CryptoCore
internal import Glibc
internal import StorageCore

/// Makes files beside their place, and moves them there when they are whole and durable.
enum VaultCopy {
  /// Makes a vault's file by `body` and puts it at `file`'s path.
  ///
  /// - Parameters:
  ///   - file: the place.
  ///   - replacing: whether an existing file is replaced; otherwise it is the error `invalid`.
  ///   - keepingOld: whether the file that is replaced gets another name.
  ///   - end: how long to wait for others who have the old file open.
  ///   - body: gets a connection to an empty file, while nobody has the old file open. Its writes
  ///     are durable when this call returns.
  /// - Returns: the other name that the old file got, if any.
  /// - Throws: `StorageError`; the place then holds what it held before, except with
  ///   `outcomeUnknown`.
  @discardableResult
  static func make(
    _ file: VaultFile, replacing: Bool, keepingOld: Bool = false,
    until end: ContinuousClock.Instant, _ body: (Connection) throws(StorageError) -> Void
  ) throws(StorageError) -> String? {
    let sibling = try sibling(of: file)
    try file.createFolder()
    _ = try file.check(mending: false, allowingEmpty: true)
    let folder = try file.existingFolder()
    let isFree = try folder.status(of: file.name) == nil
    guard replacing || isFree else { throw taken(file.path) }
    if isFree { try file.requireRoom(in: folder) }
    // Alone from here on: a write to the old file while the new one is made would be lost.
    let sole = isFree ? nil : try SoleUse(of: file, until: end)
    let process = OwnProcess()
    defer {
      // The caller's `body` may have called fork(2).
      if process.isCurrent {
        for suffix in ["", "-journal", "-wal", "-shm"] { folder.discard(sibling + suffix) }
      }
    }
    do throws(StorageError) {
      let made = try createEmpty(sibling, in: folder)
      try write(folder.path(of: sibling), body)
      try process.require("the copy", path: file.path)
      try synchronize(sibling, in: folder, made)
    } catch {
      throw error.of(file.path, madeAs: folder.path(of: sibling))
    }
    var kept: String?
    if isFree {
      guard try folder.link(sibling, as: file.name, putting) else { throw taken(file.path) }
    } else {
      kept = try replace(file, with: sibling, keepingOld: keepingOld, in: folder)
    }
    _ = consume sole
    do throws(StorageError) {
      try folder.synchronize()
    } catch {
      throw StorageError(.outcomeUnknown, error.message, path: file.path, number: error.number)
    }
    return kept.map { folder.path(of: $0) }
  }

  /// The name as which a file is made: `<name>.<process>.<number>.new`, or a short name where that
  /// is too long.
  ///
  /// - Throws: `invalid` when no name fits.
  private static func sibling(of file: VaultFile) throws(StorageError) -> String {
    let number = UInt32.random(in: 0 ... .max)
    let name = "\(file.name).\(getpid()).\(number).new"
    if VaultFile.hasRoom(for: name, in: file.folder) { return name }
    let short = String(number, radix: 36) + ".new"
    if VaultFile.hasRoom(for: short, in: file.folder) { return short }
    throw StorageError(
      .invalid, "the path is too long to make a new file beside it; use a shorter path",
      path: file.path)
  }

  private static let putting = "put the new file in its place"

  private static func replace(
    _ file: VaultFile, with sibling: String, keepingOld: Bool, in folder: FolderDescriptor
  ) throws(StorageError) -> String? {
    let kept = keepingOld ? try keep(file, in: folder) : nil
    do throws(StorageError) {
      try removeLog(of: file, in: folder)
      try folder.rename(sibling, to: file.name, putting)
    } catch {
      // The file is still in its place. If its log is gone, the log under the other name is needed.
      if let kept {
        var isWhole = true
        for log in logs(of: file, keptAs: kept)
        where try folder.contains(log.name) != folder.contains(log.kept) { isWhole = false }
        if isWhole {
          for name in [kept] + logs(of: file, keptAs: kept).map(\.kept) { folder.discard(name) }
        }
      }
      throw error
    }
    return kept
  }

  /// Gives the old file a second name, `<vault>.damaged-<number>`, and its logs names to match.
  private static func keep(
    _ file: VaultFile, in folder: FolderDescriptor
  ) throws(StorageError) -> String {
    for number in 1..<1000 {
      let name = "\(file.name).damaged-\(number)"
      guard try folder.link(file.name, as: name, "keep the old file") else { continue }
      for log in logs(of: file, keptAs: name) where try folder.contains(log.name) {
        guard try folder.link(log.name, as: log.kept, "keep the old log") else {
          throw StorageError(
            .io, "could not keep the old log: a file of its new name is there; move it away",
            path: folder.path(of: log.kept))
        }
      }
      return name
    }
    throw StorageError(.full, "there are too many old files; move them away", path: file.path)
  }

  /// The files that belong to the content of a vault's file, with the names that they are kept
  /// under.
  private static func logs(
    of file: VaultFile, keptAs name: String
  ) -> [(name: String, kept: String)] {
    [
      (FilePath.name(of: file.logPath), name + "-wal"),
      (FilePath.name(of: file.journalPath), name + "-journal"),
    ]
  }

  /// Removes the files beside a file that is to be replaced: they would be taken for the new
  /// file's.
  private static func removeLog(
    of file: VaultFile, in folder: FolderDescriptor
  ) throws(StorageError) {
    for path in [file.logPath, file.indexPath, file.journalPath] {
      try folder.remove(FilePath.name(of: path))
    }
  }

  private static func write(
    _ path: String, _ body: (Connection) throws(StorageError) -> Void
  ) throws(StorageError) {
    // Nobody else knows this file.
    let connection = try Connection(path, .readWrite, until: .now)
    try body(connection)
    // One file that stands alone: no log beside it.
    try connection.endLog()
  }

  private static func createEmpty(
    _ name: String, in folder: FolderDescriptor
  ) throws(StorageError) -> FileStatus.Identity {
    guard let file = try OpenFile(name, in: folder, O_RDWR | O_CREAT | O_EXCL) else {
      throw vanished(folder.path(of: name))
    }
    return try file.status().identity
  }

  /// Makes a file durable that nothing has open any more.
  ///
  /// - Throws: also when the path leads to another file than the one made: SQLite knows only paths.
  private static func synchronize(
    _ name: String, in folder: FolderDescriptor, _ made: FileStatus.Identity
  ) throws(StorageError) {
    guard let file = try OpenFile(name, in: folder, O_RDONLY | O_NONBLOCK),
      try file.status().identity == made
    else { throw vanished(folder.path(of: name)) }
    try file.synchronize()
  }

  private static func vanished(_ path: String) -> StorageError {
    StorageError(
      .io, "the new file disappeared while it was being made; try again", path: path)
  }

  /// Gives the vault in a new file a number and a manifest of its content, and makes every process
  /// read it again; in a transaction of the caller's.
  static func number(
    _ number: Int64, _ connection: Connection, _ keys: ManifestKeys
  ) throws(StorageError) {
    var manifest = try Manifest.computed(connection, keys)
    manifest.generation = UInt64(number)
    try VaultRows.setMeta(
      VaultSchema.Row.manifest, try manifest.bytes(keys), sequence: number, connection)
    try VaultRows.setMeta(VaultSchema.Row.horizon, [], sequence: number, connection)
  }

  private static func taken(_ path: String) -> StorageError {
    StorageError(
      .invalid,
      "a file with this name already exists; choose another name, or allow it to be replaced",
      path: path)
  }
}
