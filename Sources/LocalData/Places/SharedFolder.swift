internal import CryptoCore
internal import Glibc
internal import StorageCore

/// A folder of readable files of one user, whose programs may share it.
///
/// A file is replaced completely, by renaming a new file over it, under a lock file. Files are
/// accessible only to the owner. Each call opens the folder once, and then uses only names in it.
struct SharedFolder: Sendable {
  private static let deadline: Duration = .seconds(5)

  let path: String
  /// The folder of a group by the configuration, which is `path` or contains it; nil for other
  /// folders, which are created.
  var groupRoot: String?
  /// The prefix of the names of the lock file and of new files; empty in folders where no key's
  /// file begins with a dot.
  var stem = ""

  /// The bytes of a file, or nil if it does not exist.
  func read(_ name: String) throws(StorageError) -> [UInt8]? { try opened()?.readFile(name) }

  /// Whether anything of that name exists.
  func contains(_ name: String) throws(StorageError) -> Bool {
    try opened()?.contains(name) ?? false
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
    let folder = try made()
    let lock = try FileLock(stem + ".lock", in: folder, waiting: Self.deadline, .current)
    let result = try body(LockedFolder(folder: folder, sibling: stem + ".new"))
    _ = consume lock
    return result
  }

  /// The folder for reading; nil if it does not exist.
  ///
  /// A folder that is no group's is checked when something is written.
  func opened() throws(StorageError) -> FolderDescriptor? {
    try requireOneUser()
    return try FolderDescriptor.open(path)
  }

  /// The folder for writing; created if it is missing, and checked.
  @discardableResult
  func made() throws(StorageError) -> FolderDescriptor {
    try requireOneUser()
    let folder = try Folder.create(path)
    try Folder.requirePrivate(try folder.status(), path)
    return folder
  }

  /// Refuses a configured folder of a group that does not exist, or that other users can write to.
  private func requireOneUser() throws(StorageError) {
    guard let groupRoot else { return }
    guard let folder = try FolderDescriptor.open(groupRoot) else {
      throw StorageError(
        .unavailable, "the group's folder does not exist; mount it, or create it with the mode 700",
        path: groupRoot)
    }
    guard FolderTrust.owner.lets(othersWriteInto: try folder.status(), at: groupRoot) else {
      return
    }
    throw StorageError(
      .unsupported,
      "other users can write to the group's folder, and a group of typed storage belongs to one user: run "
        + "chmod go-w on it. To share values with other users, use etcd (EtcdBackend), or a vault in a folder "
        + "that they can write to (FolderTrust.processGroup)", path: groupRoot)
  }
}

/// A folder whose lock is held.
struct LockedFolder: ~Copyable {
  fileprivate let folder: FolderDescriptor
  /// The name of the new file, which is then renamed.
  fileprivate let sibling: String

  /// The bytes of a file, or nil if it does not exist.
  func read(_ name: String) throws(StorageError) -> [UInt8]? { try folder.readFile(name) }

  /// Whether anything of that name exists.
  func contains(_ name: String) throws(StorageError) -> Bool { try folder.contains(name) }

  /// Replaces a file durably, completely or not at all; `invalid` for one too large to be read again.
  func write(_ bytes: [UInt8], to name: String) throws(StorageError) {
    guard bytes.count <= FolderDescriptor.sizeLimit else {
      throw StorageError(
        .invalid,
        "a file of typed storage has at most 256 MiB, and nothing was changed; use a sealed folder "
          + "(FileBackend) for larger values", path: folder.path(of: name))
    }
    try unsafe DurableFile.replace(name, in: folder, with: bytes.span.bytes, sibling: sibling)
  }

  /// Removes a file, if it exists.
  func remove(_ name: String) throws(StorageError) {
    guard try folder.remove(name) else { return }
    do throws(StorageError) {
      try folder.synchronize()
    } catch {
      throw StorageError(
        .outcomeUnknown, error.message, path: folder.path(of: name), number: error.number)
    }
  }
}

extension FolderDescriptor {
  /// The largest file in bytes that is read: a value must fit into memory.
  fileprivate static let sizeLimit = 1 << 28

  /// The bytes of a file, or nil if it does not exist.
  fileprivate func readFile(_ name: String) throws(StorageError) -> [UInt8]? {
    try openFile(name)?.readAll(limit: Self.sizeLimit)
  }

  /// The first bytes of a file, or nil if it does not exist.
  func readFirst(_ count: Int, of name: String) throws(StorageError) -> [UInt8]? {
    try openFile(name)?.readFirst(count)
  }

  /// Opens a file for reading, and refuses one that another user could have put there.
  private func openFile(_ name: String) throws(StorageError) -> OpenFile? {
    // A pipe or a link in the place of the file is refused, without waiting for it or following it.
    guard let file = try OpenFile(name, in: self, O_RDONLY | O_NONBLOCK) else { return nil }
    let status = try file.status()
    try status.requireRegular(file.path)
    try status.requireOwner(file.path)
    return file
  }
}
