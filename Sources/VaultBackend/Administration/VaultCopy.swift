internal import CryptoCore
internal import Glibc
internal import StorageCore

/// Files that are made beside their place and put there when they are whole and durable.
enum VaultCopy {
  /// Makes a vault's file by `body` and puts it at `file`'s path.
  ///
  /// - Parameters:
  ///   - file: the place.
  ///   - replacing: whether a file that is there is replaced; else it is the error `invalid`.
  ///   - keepingOld: whether the file that is replaced gets another name.
  ///   - end: how long those are waited for that have the file open which is replaced.
  ///   - body: is given a connection to an empty file, while nobody has the one open that is replaced.
  ///     What it writes is durable when it returns.
  /// - Returns: the other name that the old file got, if any.
  /// - Throws: `StorageError`; there is then what was there before, except with `outcomeUnknown`.
  @discardableResult
  static func make(
    _ file: VaultFile, replacing: Bool, keepingOld: Bool = false,
    until end: ContinuousClock.Instant, _ body: (Connection) throws(StorageError) -> Void
  ) throws(StorageError) -> String? {
    try Folder.create(file.folder)
    _ = try file.check(mending: false, allowingEmpty: true)
    let isFree = try FileStatus.ofEntry(file.path) == nil
    guard replacing || isFree else { throw taken(file.path) }
    if isFree { try file.requireOwnName() }
    // From here on, since what is written to a file while the other is made would be lost with it.
    let sole = isFree ? nil : try SoleUse(of: file, until: end)
    let sibling = "\(file.path).\(getpid()).\(UInt32.random(in: 0 ... .max)).new"
    let process = OwnProcess()
    defer {
      // The caller's code is told of progress, and may fork there.
      if process.isCurrent {
        for suffix in ["", "-journal", "-wal", "-shm"] { unsafe unlink(sibling + suffix) }
      }
    }
    do throws(StorageError) {
      try createEmpty(sibling)
      try write(sibling, body)
      try process.require("the copy", path: file.path)
      try OpenFile.synchronize(sibling)
    } catch {
      throw error.of(file.path, madeAs: sibling)
    }
    var kept: String?
    if isFree {
      try link(sibling, as: file)
    } else {
      kept = try replace(file, with: sibling, keepingOld: keepingOld)
    }
    _ = consume sole
    do throws(StorageError) {
      try Folder.synchronize(file.folder)
    } catch {
      throw StorageError(.outcomeUnknown, error.message, path: file.path, number: error.number)
    }
    return kept
  }

  private static func link(_ sibling: String, as file: VaultFile) throws(StorageError) {
    guard unsafe Glibc.link(sibling, file.path) != 0 else { return }
    if errno == EEXIST { throw taken(file.path) }
    throw StorageError(system: "put the new file in its place", path: file.path)
  }

  private static func replace(
    _ file: VaultFile, with sibling: String, keepingOld: Bool
  ) throws(StorageError) -> String? {
    let kept = keepingOld ? try keep(file) : nil
    do throws(StorageError) {
      try removeLog(of: file)
      guard unsafe rename(sibling, file.path) == 0 else {
        throw StorageError(system: "put the new file in its place", path: file.path)
      }
    } catch {
      // The file is still in its place. Its log may be gone; then it is the other name's.
      if let kept {
        var isWhole = true
        for log in logs(of: file, keptAs: kept) {
          let isThere = try FileStatus.ofEntry(log.path) != nil
          if try isThere != (FileStatus.ofEntry(log.kept) != nil) { isWhole = false }
        }
        if isWhole {
          for name in [kept] + logs(of: file, keptAs: kept).map(\.kept) { unsafe unlink(name) }
        }
      }
      throw error
    }
    return kept
  }

  /// Gives the old file a second name, `<vault>.damaged-<number>`, and its logs names to match.
  private static func keep(_ file: VaultFile) throws(StorageError) -> String {
    for number in 1..<1000 {
      let name = "\(file.path).damaged-\(number)"
      guard unsafe Glibc.link(file.path, name) != 0 else {
        for log in logs(of: file, keptAs: name) where unsafe Glibc.link(log.path, log.kept) != 0 {
          guard errno == ENOENT else {
            throw StorageError(system: "keep the old log", path: log.path)
          }
        }
        return name
      }
      guard errno == EEXIST else {
        throw StorageError(system: "keep the old file", path: file.path)
      }
    }
    throw StorageError(.full, "there are too many old files; move them away", path: file.path)
  }

  /// What belongs to the contents of a file, and its name beside the one that the file is kept under.
  private static func logs(
    of file: VaultFile, keptAs name: String
  ) -> [(path: String, kept: String)] {
    [(file.logPath, name + "-wal"), (file.journalPath, name + "-journal")]
  }

  /// Removes what lies beside a file that is to be replaced, and would be taken for the new one's.
  private static func removeLog(of file: VaultFile) throws(StorageError) {
    for path in [file.logPath, file.indexPath, file.journalPath] where unsafe unlink(path) != 0 {
      if errno != ENOENT { throw StorageError(system: "remove the old log", path: path) }
    }
  }

  private static func write(
    _ path: String, _ body: (Connection) throws(StorageError) -> Void
  ) throws(StorageError) {
    // Nobody else knows of it.
    let connection = try Connection(path, .readWrite, until: .now)
    try body(connection)
    // One file that stands alone: no log beside it.
    try connection.endLog()
  }

  private static func createEmpty(_ path: String) throws(StorageError) {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
    guard try OpenFile(path, flags, permissions: 0o600) != nil else {
      throw StorageError(
        .io, "the new file disappeared while it was being made; try again", path: path)
    }
  }

  /// Gives the vault in a new file a number and a manifest of what it holds, and has every process read it
  /// anew; in a transaction of the caller's.
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

extension OpenFile {
  /// Makes a file durable that nothing has open any more.
  fileprivate static func synchronize(_ path: String) throws(StorageError) {
    guard let file = try OpenFile(path, O_RDONLY | O_NOFOLLOW) else {
      throw StorageError(
        .io, "the new file disappeared while it was being made; try again", path: path)
    }
    try file.synchronize()
  }
}
