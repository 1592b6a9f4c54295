internal import CryptoCore
internal import Glibc
internal import StorageCore

/// A folder of readable files: the program's own, or one that a group shares.
///
/// A file is replaced completely, by renaming a new file over it, under a lock file. Files are accessible
/// only to the owner; in a folder with the mode 2770 also to its group; never to others.
struct SharedFolder: Sendable {
  /// The largest file in bytes that is read: a value must fit into memory.
  static let sizeLimit = 1 << 28
  private static let deadline: Duration = .seconds(5)

  let path: String
  /// The group folder of an administrator that is `path` or contains it; nil if there is none.
  var groupRoot: String?
  /// The prefix of the names of the lock file and of new files; empty in folders where no key's file begins
  /// with a dot.
  var stem = ""

  /// The bytes of a file, or nil if it does not exist.
  func read(_ name: String) throws(StorageError) -> [UInt8]? {
    guard try isThere() else { return nil }
    let path = path + "/" + name
    // A pipe or a link in the place of the file is refused, without waiting for it or following it.
    guard let file = try OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { return nil }
    let status = try file.status()
    guard status.isRegular else {
      throw StorageError(.denied, "it is not a regular file; move it away", path: path)
    }
    guard groupRoot != nil || status.owner == geteuid() || status.owner == 0 else {
      throw StorageError(.denied, "it \(Self.foreign)", path: path)
    }
    return try file.readAll(limit: Self.sizeLimit)
  }

  private static let foreign = "belongs to another user: \(StorageError.ownerAdvice)"

  /// Whether anything of that name exists.
  func contains(_ name: String) throws(StorageError) -> Bool {
    guard try isThere() else { return false }
    return try FileStatus.ofEntry(path + "/" + name) != nil
  }

  /// Calls `onChange` after files of the folder were replaced.
  ///
  /// A replaced file is a new file, so the folder is watched instead of the file.
  func observe(_ onChange: @escaping @Sendable () -> Void) -> ChangeObservation {
    let watch = FileWatch([.folder(path)], threadName: "localdata-watch") {
      onChange()
      return .change
    }
    return ChangeObservation { watch.stop() }
  }

  /// Runs `body` under the lock, which excludes all other threads and processes.
  func locked<Result>(
    _ body: (borrowing LockedFolder) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let mode = try prepare()
    let locks = try lock(mode)
    let result = try body(LockedFolder(path: path, mode: mode, sibling: "\(path)/\(stem).new"))
    _ = consume locks
    return result
  }

  /// Creates the folder, checks who can write to it, and returns the mode for its files.
  private func prepare() throws(StorageError) -> mode_t {
    guard let groupRoot else {
      try Folder.create(path)
      try Folder.requirePrivate(path)
      return 0o600
    }
    try Self.requireGroupFolder(groupRoot, R_OK | W_OK | X_OK)
    try create(in: groupRoot)
    return 0o660
  }

  /// Whether the folder exists; also checks every folder between the group's folder and this one.
  ///
  /// A folder without a group is checked when something is written.
  private func isThere() throws(StorageError) -> Bool {
    guard let groupRoot else { return true }
    try Self.requireGroupFolder(groupRoot, R_OK | X_OK)
    for folder in folders(below: groupRoot) where try !Self.isFolder(folder) { return false }
    return true
  }

  /// The folders below the group's folder, down to this one.
  private func folders(below root: String) -> [String] {
    var folders: [String] = []
    var folder = path
    while folder.utf8.count > root.utf8.count {
      folders.append(folder)
      folder = FilePath.folder(of: folder)
    }
    return folders.reversed()
  }

  /// Whether a folder exists at the path.
  ///
  /// - Throws: `denied` for a link, which could lead anywhere, for anything else that is not a folder, and
  ///   for a folder that others than the group can use.
  private static func isFolder(_ path: String) throws(StorageError) -> Bool {
    guard let status = try FileStatus.ofEntry(path) else { return false }
    guard status.isFolder else {
      throw StorageError(
        .denied, "it is \(status.isLink ? "a link, " : "")not a folder; move it away", path: path)
    }
    guard status.permissions & 0o007 == 0 else {
      throw StorageError(
        .denied, "others than the group can use the folder; give it the mode 2770", path: path)
    }
    return true
  }

  /// Refuses a group folder that does not exist, or that others than the group can use.
  static func requireGroupFolder(_ path: String, _ rights: Int32) throws(StorageError) {
    guard let status = try FileStatus.of(path), status.isFolder else {
      throw StorageError(
        .unavailable,
        "the group's folder does not exist; an administrator must create it, mode 2770", path: path
      )
    }
    guard status.permissions & 0o2070 == 0o2070, status.permissions & 0o007 == 0 else {
      throw StorageError(
        .denied,
        "the group's folder must have the mode 2770: the group may read and write, others may not, and "
          + "new files belong to the group", path: path)
    }
    guard unsafe access(path, rights) == 0 else {
      throw StorageError(
        .denied, "this user is not in the folder's group", path: path)
    }
  }

  /// Creates folders within the group's folder, with its mode and its group.
  private func create(in root: String) throws(StorageError) {
    for folder in folders(below: root) where try !Self.isFolder(folder) {
      guard unsafe mkdir(folder, 0o700) == 0 else {
        guard errno == EEXIST, try Self.isFolder(folder) else {
          throw StorageError(system: "create the folder", path: folder)
        }
        continue
      }
      // mkdir(2) keeps the group by the parent's setgid bit, but applies the umask to the mode.
      guard unsafe chmod(folder, 0o2770) == 0 else {
        throw StorageError(system: "share the folder", path: folder)
      }
      try Folder.synchronize(FilePath.folder(of: folder))
    }
  }

  private func lock(_ mode: mode_t) throws(StorageError) -> HeldLock {
    let path = path + "/\(stem).lock"
    let end = ContinuousClock.now + Self.deadline
    repeat {
      let file = try openLock(path, mode)
      guard try file.lock(byte: 0, until: end, Cancellation.current) else { break }
      if try file.isInPlace() { return HeldLock(file: file) }
    } while ContinuousClock.now < end
    throw StorageError(.busy, "another process held the lock for too long; try again", path: path)
  }

  private func openLock(_ path: String, _ mode: mode_t) throws(StorageError) -> OpenFile {
    while true {
      if let file = try OpenFile(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK) { return file }
      try makeLock(path, mode)
    }
  }

  /// Creates the lock file under a temporary name, sets its mode, and then links it into place.
  ///
  /// Otherwise another process could find a lock file without the group's rights and be denied.
  private func makeLock(_ path: String, _ mode: mode_t) throws(StorageError) {
    guard mode != 0o600 else { return try makeOwnLock(path) }
    let new = "\(path).\(getpid()).\(UInt64.random(in: .min ... .max))"
    guard
      let file = try OpenFile(new, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, permissions: 0o600)
    else { throw StorageError(.io, "the new lock file vanished", path: new) }
    defer { _ = unsafe unlink(new) }
    guard fchmod(file.descriptor, mode) == 0 else {
      throw StorageError(system: "share the lock file", path: path)
    }
    // link(2) replaces nothing: if another process created the lock file first, that one is used.
    guard unsafe link(new, path) == 0 || errno == EEXIST else {
      throw StorageError(system: "create the lock file", path: path)
    }
  }

  private func makeOwnLock(_ path: String) throws(StorageError) {
    do throws(StorageError) {
      _ = try OpenFile(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, permissions: 0o600)
    } catch {
      guard error.number == Int(EEXIST) else { throw error }
    }
  }
}

/// Releases the lock, even if a forked child has a copy of the descriptor.
private struct HeldLock: ~Copyable {
  let file: OpenFile
  private let process = OwnProcess()

  init(file: consuming OpenFile) { self.file = file }

  deinit {
    guard process.isCurrent else { return }
    do throws(StorageError) { try file.unlock(byte: 0) } catch {}  // closing does the same
  }
}

/// A folder whose lock is held.
struct LockedFolder: ~Copyable {
  let path: String
  let mode: mode_t
  /// The path of the new file, which is then renamed.
  let sibling: String

  /// Replaces a file durably, completely or not at all.
  func write(_ bytes: [UInt8], to name: String) throws(StorageError) {
    let path = path + "/" + name
    // A crashed writer may have left a file there; its data was never acknowledged.
    _ = unsafe unlink(sibling)
    do throws(StorageError) {
      try fill(sibling, bytes)
      guard unsafe rename(sibling, path) == 0 else {
        throw StorageError(system: "rename the new file into place", path: path)
      }
    } catch {
      _ = unsafe unlink(sibling)
      let code = error.code == .outcomeUnknown ? .io : error.code
      throw StorageError(code, error.message, path: path, number: error.number)
    }
    try settle(path)
  }

  private func fill(_ sibling: String, _ bytes: [UInt8]) throws(StorageError) {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
    guard let file = try OpenFile(sibling, flags, permissions: 0o600) else {
      throw StorageError(.io, "the new file vanished", path: sibling)
    }
    // The mode is set while the file is still empty.
    guard mode == 0o600 || fchmod(file.descriptor, mode) == 0 else {
      throw StorageError(system: "share the file", path: sibling)
    }
    try unsafe file.write(bytes.span.bytes)
    try file.synchronize()
  }

  /// Removes a file, if it exists.
  func remove(_ name: String) throws(StorageError) {
    let path = path + "/" + name
    guard unsafe unlink(path) == 0 else {
      guard errno != ENOENT else { return }
      throw StorageError(system: "remove", path: path)
    }
    try settle(path)
  }

  private func settle(_ path: String) throws(StorageError) {
    do throws(StorageError) {
      try Folder.synchronize(self.path)
    } catch {
      throw StorageError(.outcomeUnknown, error.message, path: path, number: error.number)
    }
  }
}
