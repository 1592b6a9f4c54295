internal import CryptoCore
internal import Glibc
internal import StorageCore

/// A folder of readable files: the program's own, or one that a group shares.
///
/// A file is replaced whole, by a sibling that is renamed over it, under a lock file. Files are
/// for the owner alone; in a folder with the mode 2770 for its group as well, and never for others.
struct SharedFolder: Sendable {
  /// The largest file that is read: a value has to fit into memory.
  static let sizeLimit = 1 << 28
  private static let deadline: Duration = .seconds(5)

  let path: String
  /// The folder that a group's administrator made, which `path` is or is in; nil where there is none.
  var groupRoot: String?
  /// What the names of the lock file and of new files begin with: nothing, where no key's file begins with
  /// a dot.
  var stem = ""

  /// The bytes of a file, or nil when there is none.
  func read(_ name: String) throws(StorageError) -> [UInt8]? {
    let path = path + "/" + name
    // A pipe or a link in the place of the file is refused, and not waited for or followed.
    guard let file = try OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { return nil }
    let status = try file.status()
    guard status.isRegular else {
      throw StorageError(.denied, "it is no file; move it away", path: path)
    }
    guard groupRoot != nil || status.owner == geteuid() || status.owner == 0 else {
      throw StorageError(.denied, "it \(Self.foreign)", path: path)
    }
    return try file.readAll(limit: Self.sizeLimit)
  }

  private static let foreign = "belongs to another user: \(StorageError.ownerAdvice)"

  /// Whether there is something of a name.
  func contains(_ name: String) throws(StorageError) -> Bool {
    try FileStatus.ofEntry(path + "/" + name) != nil
  }

  /// Calls `onChange` after files of the folder were replaced: a file that is replaced is another one, so
  /// the folder is watched and not the file.
  func observe(_ onChange: @escaping @Sendable () -> Void) -> ChangeObservation {
    let watch = FileWatch([.folder(path)], threadName: "localdata-watch") {
      onChange()
      return .change
    }
    return ChangeObservation { watch.stop() }
  }

  /// Lets `body` change files, alone among all threads and processes.
  func locked<Result>(
    _ body: (borrowing LockedFolder) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let mode = try prepare()
    let locks = try lock(mode)
    let result = try body(LockedFolder(path: path, mode: mode, sibling: "\(path)/\(stem).new"))
    _ = consume locks
    return result
  }

  /// Makes the folder, checks who can write to it, and gives the mode of its files.
  private func prepare() throws(StorageError) -> mode_t {
    guard let groupRoot else {
      try Folder.create(path)
      try Folder.requirePrivate(path)
      return 0o600
    }
    try Self.requireGroupFolder(groupRoot)
    try create(path, in: groupRoot)
    return 0o660
  }

  /// Refuses a folder of a group that is not there, or that others than the group can write to.
  static func requireGroupFolder(_ path: String) throws(StorageError) {
    guard let status = try FileStatus.of(path), status.isFolder else {
      throw StorageError(
        .unavailable,
        "the group's folder is not there; its administrator makes it with the mode 2770", path: path
      )
    }
    guard status.permissions & 0o2070 == 0o2070, status.permissions & 0o002 == 0 else {
      throw StorageError(
        .denied,
        "the group's folder has to have the mode 2770: the group may write, others may not, and new "
          + "files belong to the group", path: path)
    }
    guard unsafe access(path, R_OK | W_OK | X_OK) == 0 else {
      throw StorageError(
        .denied, "this user is not of the group that the folder is for", path: path)
    }
  }

  /// Makes folders within the group's, which have its mode and its group.
  private func create(_ path: String, in root: String) throws(StorageError) {
    guard path != root else { return }
    if let status = try FileStatus.ofEntry(path) {
      guard status.isFolder else {
        throw StorageError(.denied, "it is no folder; move it away", path: path)
      }
      return
    }
    let parent = FilePath.folder(of: path)
    try create(parent, in: root)
    guard unsafe mkdir(path, 0o700) == 0 else {
      guard errno == EEXIST else {
        throw StorageError(system: "create the folder", path: path)
      }
      return
    }
    // mkdir(2) keeps the group by the parent's setgid bit, and leaves out what umask says.
    guard unsafe chmod(path, 0o2770) == 0 else {
      throw StorageError(system: "share the folder", path: path)
    }
    try Folder.synchronize(parent)
  }

  private func lock(_ mode: mode_t) throws(StorageError) -> HeldLock {
    let path = path + "/\(stem).lock"
    let end = ContinuousClock.now + Self.deadline
    repeat {
      let file = try openLock(path, mode)
      guard try file.lock(byte: 0, until: end, Cancellation.current) else { break }
      if try file.isInPlace() { return HeldLock(file: file) }
    } while ContinuousClock.now < end
    throw StorageError(.busy, "others held the lock for too long; try again", path: path)
  }

  private func openLock(_ path: String, _ mode: mode_t) throws(StorageError) -> OpenFile {
    let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK
    while true {
      if let file = try OpenFile(path, flags) { return file }
      do throws(StorageError) {
        if let file = try OpenFile(path, flags | O_CREAT | O_EXCL, permissions: 0o600) {
          guard fchmod(file.descriptor, mode) == 0 else {
            throw StorageError(system: "share the lock file", path: path)
          }
          return file
        }
      } catch {
        guard error.number == Int(EEXIST) else { throw error }
      }
    }
  }
}

/// Gives the lock back, also where a forked child has a copy of the descriptor.
private struct HeldLock: ~Copyable {
  let file: OpenFile
  private let process = getpid()

  init(file: consuming OpenFile) { self.file = file }

  deinit {
    guard getpid() == process else { return }
    do throws(StorageError) { try file.unlock(byte: 0) } catch {}  // closing does the same
  }
}

/// A folder whose lock is held.
struct LockedFolder: ~Copyable {
  let path: String
  let mode: mode_t
  /// Where a new file is written, which is renamed then.
  let sibling: String

  /// Replaces a file, durably, whole or not at all.
  func write(_ bytes: [UInt8], to name: String) throws(StorageError) {
    let path = path + "/" + name
    // What a dead writer left there was never acknowledged.
    _ = unsafe unlink(sibling)
    do throws(StorageError) {
      try fill(sibling, bytes)
      guard unsafe rename(sibling, path) == 0 else {
        throw StorageError(system: "put the new file in its place", path: path)
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
    // Before there is anything in it.
    guard mode == 0o600 || fchmod(file.descriptor, mode) == 0 else {
      throw StorageError(system: "share the file", path: sibling)
    }
    try unsafe file.write(bytes.span.bytes)
    try file.synchronize()
  }

  /// Removes a file, if it is there.
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
