internal import CryptoCore
internal import Glibc
internal import StorageCore

/// A folder of readable files: the program's own, or one that a group shares.
///
/// A file is replaced completely, by renaming a new file over it, under a lock file. Files are
/// accessible only to the owner; in a folder with the mode 2770 also to its group; never to others.
///
/// Each call opens the folder once, component by component, checks it, and then uses only names in
/// it. So a member of the group who exchanges a folder and a link leads no program to another
/// folder.
struct SharedFolder: Sendable {
  private static let deadline: Duration = .seconds(5)

  let path: String
  /// The group folder of an administrator that is `path` or contains it; nil if there is none.
  var groupRoot: String?
  /// The prefix of the names of the lock file and of new files; empty in folders where no key's
  /// file begins with a dot.
  var stem = ""

  /// The bytes of a file, or nil if it does not exist.
  func read(_ name: String) throws(StorageError) -> [UInt8]? { try opened()?.read(name) }

  /// Whether anything of that name exists.
  func contains(_ name: String) throws(StorageError) -> Bool {
    try opened()?.folder.contains(name) ?? false
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
    let files = try made()
    let locks = try lock(files)
    let result = try body(LockedFolder(files: files, sibling: stem + ".new"))
    _ = consume locks
    return result
  }

  /// The folder for reading; nil if it does not exist.
  ///
  /// A folder without a group is checked when something is written.
  func opened() throws(StorageError) -> SharedFiles? {
    guard let groupRoot else {
      return try FolderDescriptor.open(path).map { SharedFiles(folder: $0, group: nil) }
    }
    let group = try GroupRoot(groupRoot, R_OK | X_OK)
    var folder = group.folder
    for name in names(below: groupRoot) {
      guard let child = try folder.child(name), try !group.isUnfinished(child) else { return nil }
      try group.check(child)
      folder = child
    }
    return SharedFiles(folder: folder, group: group.id)
  }

  /// The folder for writing; created where it is missing, and checked.
  private func made() throws(StorageError) -> SharedFiles {
    guard let groupRoot else {
      let folder = try Folder.create(path)
      try Folder.requirePrivate(try folder.status(), path)
      return SharedFiles(folder: folder, group: nil)
    }
    let group = try GroupRoot(groupRoot, R_OK | W_OK | X_OK)
    var folder = group.folder
    for name in names(below: groupRoot) { folder = try group.makeChild(name, of: folder) }
    return SharedFiles(folder: folder, group: group.id)
  }

  /// The names of the folders below the group's folder, down to this one.
  private func names(below root: String) -> [String] {
    path.dropFirst(root.count).split(separator: "/").map(String.init)
  }

  // MARK: - Lock

  private func lock(_ files: SharedFiles) throws(StorageError) -> HeldLock {
    let name = stem + ".lock"
    let end = ContinuousClock.now + Self.deadline
    repeat {
      let file = try openLock(name, files)
      guard try file.lock(byte: 0, until: end, Cancellation.current) else { break }
      if try file.isInPlace(in: files.folder) { return HeldLock(file: file) }
    } while ContinuousClock.now < end
    throw StorageError(
      .busy, "another process held the lock for too long; try again",
      path: files.folder.path(of: name))
  }

  private func openLock(_ name: String, _ files: SharedFiles) throws(StorageError) -> OpenFile {
    while true {
      if let file = try OpenFile(name, in: files.folder, O_RDWR | O_NONBLOCK) { return file }
      try makeLock(name, files)
    }
  }

  /// Creates the lock file under a temporary name, sets its mode, and then links it into place.
  ///
  /// Otherwise another process could find a lock file without the group's rights and be denied.
  private func makeLock(_ name: String, _ files: SharedFiles) throws(StorageError) {
    let folder = files.folder
    let new = "\(name).\(getpid()).\(UInt64.random(in: .min ... .max))"
    guard let file = try OpenFile(new, in: folder, O_RDWR | O_CREAT | O_EXCL) else {
      throw StorageError(.io, "the new lock file vanished", path: folder.path(of: new))
    }
    defer { folder.discard(new) }
    guard fchmod(file.descriptor, files.mode) == 0 else {
      throw StorageError(system: "share the lock file", path: folder.path(of: name))
    }
    // link(2) replaces nothing: if another process created the lock file first, that one is used.
    _ = try folder.link(new, as: name, "create the lock file")
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
