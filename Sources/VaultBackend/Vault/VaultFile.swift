internal import CryptoCore
internal import Glibc
internal import StorageCore

internal import struct Foundation.URL

/// The file of a vault and those beside it.
struct VaultFile: Hashable, Sendable {
  /// What tells one state of a file that only others write from another.
  struct Stamp: Hashable, Sendable {
    let file: FileStatus?
    let log: FileStatus?
    /// The size alone: SQLite, which looks into a journal, gives it an owner when that is root.
    let journalSize: Int?
  }

  /// The absolute path without links.
  let path: String
  /// Who may write to the folders, besides this user and root.
  let trust: FolderTrust

  /// One vault is one, whoever is trusted.
  static func == (left: VaultFile, right: VaultFile) -> Bool { left.path == right.path }

  func hash(into hasher: inout Hasher) { hasher.combine(path) }

  var folder: String { FilePath.folder(of: path) }
  /// The name in the folder.
  var name: String { FilePath.name(of: path) }
  /// SQLite's write-ahead log.
  var logPath: String { path + "-wal" }
  /// SQLite's index of it, which is shared memory.
  var indexPath: String { path + "-shm" }
  /// The rollback journal: there is one only while a file takes up a log or gives it up.
  var journalPath: String { path + "-journal" }
  /// Written after each commit, for those that watch it.
  var noticePath: String { path + "-notice" }

  /// The file at a path, whose folder may be reached through links and need not exist.
  ///
  /// The folder's own path is resolved once, so that one vault has one path in this process.
  init(_ path: String, _ trust: FolderTrust = .owner) throws(StorageError) {
    let name = FilePath.name(of: path)
    guard path.hasPrefix("/"), !name.isEmpty, name != ".", name != "..", !path.utf8.contains(0)
    else {
      throw StorageError(
        .invalid, "the path is not allowed for a vault: give an absolute path to a file",
        path: path)
    }
    self.trust = trust
    let folder = try FolderDescriptor.resolve(FilePath.folder(of: path), trust)
    self.path = folder == "/" ? "/" + name : folder + "/" + name
  }

  /// The same for a file URL.
  init(_ url: URL, _ trust: FolderTrust = .owner) throws(StorageError) {
    try self.init(url.isFileURL ? url.path(percentEncoded: false) : "", trust)
  }

  /// Opens the folder, and refuses one that others could replace, or one above it.
  ///
  /// The path was resolved once. A link that is in its way now was put there since.
  ///
  /// - Returns: nil when it does not exist.
  /// - Throws: `denied`.
  func openFolder() throws(StorageError) -> FolderDescriptor? {
    try FolderDescriptor.open(folder, links: .refused) { (status, path) throws(StorageError) in
      try requirePrivate(status, path)
    }
  }

  private func requirePrivate(_ status: FileStatus, _ path: String) throws(StorageError) {
    // The folder itself must be writable by nobody else, sticky or not: in `/tmp` others could make the files
    // that SQLite looks for beside the vault.
    if path == folder, trust.lets(othersWriteTo: status) {
      throw StorageError(
        .denied,
        "other users can write to the vault's folder; "
          // Made for all users, as /tmp is, and to be left so.
          + (status.isSticky ? "use a folder of your own" : trust.advice(for: status)),
        path: folder)
    }
    try Folder.requirePrivate(status, path, trust)
  }

  /// What tells the file that is in its place now from others; nil when there is none.
  func place() throws(StorageError) -> FileStatus.Identity? {
    try openFolder()?.status(of: name)?.identity
  }

  /// Opens the folder, which must exist.
  func existingFolder() throws(StorageError) -> FolderDescriptor {
    if let folder = try openFolder() { return folder }
    throw StorageError(
      .unavailable,
      "the vault's folder does not exist, or is a file; create it, or check the path",
      path: folder)
  }

  /// The present state, for the price of three lstat(2).
  func stamp() throws(StorageError) -> Stamp {
    Stamp(
      file: try FileStatus.ofEntry(path), log: try FileStatus.ofEntry(logPath),
      journalSize: try FileStatus.ofEntry(journalPath)?.size)
  }

  /// Whether there is a log with something in it.
  func hasLog() throws(StorageError) -> Bool { try logSize() > 0 }

  /// How many bytes the log takes, 0 when there is none.
  func logSize() throws(StorageError) -> Int { try FileStatus.ofEntry(logPath)?.size ?? 0 }

  /// Whether all that was committed is in the file: no log holds anything, nor a journal what a writer
  /// that died has left half done.
  func standsAlone() throws(StorageError) -> Bool {
    let journal = try FileStatus.ofEntry(journalPath)?.size ?? 0
    return try !hasLog() && journal == 0
  }

  /// Whether the file can be written to.
  var isWritable: Bool { unsafe access(path, W_OK) == 0 }

  /// Whether files can be made in the folder.
  var isFolderWritable: Bool { unsafe access(folder, W_OK) == 0 }

  // MARK: - Checks

  /// Whether the vault is there; refuses what no vault of ours can be.
  ///
  /// SQLite is handed nothing that was not checked, since it follows what it finds. The vault is not
  /// opened here: closing a descriptor gives back the process's locks on the file (fcntl(2)).
  ///
  /// - Parameters:
  ///   - mending: takes from others the permission to read the files.
  ///   - allowingEmpty: whether an empty file is one that is to be replaced.
  /// - Returns: whether it is there.
  /// - Throws: `denied` for what somebody else could have put there, or for no regular file; `damaged` for
  ///   a journal that is none of a vault's.
  func check(mending: Bool, allowingEmpty: Bool = false) throws(StorageError) -> Bool {
    guard let folder = try openFolder() else { return false }
    guard let status = try entry(in: folder) else { return false }
    try check(status, path, mending, in: folder)
    guard status.size > 0 || allowingEmpty else {
      throw StorageError(
        .damaged, "the file is empty, so it is not a vault; move it away, or restore a backup",
        path: path)
    }
    for path in [logPath, indexPath, journalPath, noticePath] {
      if let status = try folder.status(of: FilePath.name(of: path)) {
        try check(status, path, mending, in: folder)
      }
    }
    try checkJournal(besides: status, in: folder)
    return true
  }

  /// The vault's own file, or nil when there is none, and nothing that was its.
  private func entry(in folder: FolderDescriptor) throws(StorageError) -> FileStatus? {
    if let status = try folder.status(of: name) { return status }
    for rest in [logPath, journalPath] {
      guard let left = try folder.status(of: FilePath.name(of: rest)), left.size > 0 else {
        continue
      }
      // Another process may just have made it.
      if let status = try folder.status(of: name) { return status }
      // A vault that is made or put here would be read together with that.
      throw StorageError(
        .damaged,
        "the vault is gone, but its log is still there; put the vault back, or move the log away",
        path: rest)
    }
    return nil
  }

  /// Refuses as a rollback journal what SQLite never left there for a vault.
  ///
  /// The journal of a transaction over several files ends with the path of one more, which SQLite opens,
  /// reads and removes when it plays the journal back; a vault never has such a one, and it would be a
  /// way to have any file of the user removed. What is no journal at all, and has the name of one, it
  /// would remove as well. https://sqlite.org/fileformat2.html, "The Rollback Journal".
  private func checkJournal(
    besides file: FileStatus, in folder: FolderDescriptor
  ) throws(StorageError) {
    let name = FilePath.name(of: journalPath)
    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    guard let status = try folder.status(of: name), status.size > 0 else { return }
    // Closing a descriptor of the vault itself would give back this process's locks on it.
    guard status.inode != file.inode || status.device != file.device else {
      throw StorageError(
        .damaged, "it is the vault itself under another name; remove that name", path: journalPath)
    }
    guard let journal = try OpenFile(name, in: folder, O_RDONLY | O_NONBLOCK) else { return }
    let first = try journal.readFirst(magic.count)
    // Zeros are what a power cut leaves of one.
    guard first.first ?? 0 == 0 || magic.starts(with: first) else {
      throw StorageError(
        .damaged,
        "the file has the name of the vault's journal but is not a journal, and SQLite would "
          + "remove it; move it away, or give the vault another name", path: journalPath)
    }
    // Of one that is no longer than its head the end is the head.
    let last = status.size < 2 * magic.count ? [] : try journal.readLast(magic.count)
    guard last != magic else {
      throw StorageError(
        .damaged,
        "the journal names another file, which SQLite would remove; the journal of a vault never "
          + "names one. Move the journal away, find out who put it there, and verify the vault",
        path: journalPath)
    }
  }

  private func check(
    _ status: FileStatus, _ path: String, _ mending: Bool, in folder: FolderDescriptor
  ) throws(StorageError) {
    guard status.isRegular else {
      throw StorageError(.denied, Self.whatItIs(status, isVault: path == self.path), path: path)
    }
    // Root's can be read: it is part of what was put on a read-only disk, as an image of a container.
    guard status.owner == geteuid() || status.owner == 0 else {
      throw StorageError(
        .denied, "the file belongs to another user: \(StorageError.ownerAdvice)", path: path)
    }
    guard !trust.lets(othersWriteTo: status) else {
      throw StorageError(
        .denied,
        "other users can write to the file; check whether another user changed it, then run chmod 600 "
          + "on it", path: path)
    }
    guard mending, status.permissions & 0o077 != 0, status.owner == geteuid() else { return }
    // On a disk that is read-only it can only be read.
    guard folder.setPrivate(FilePath.name(of: path)) || errno == EROFS else {
      throw StorageError(system: "remove other users' access to the file", path: path)
    }
  }

  /// What is in the place of a regular file, and what to do about it.
  ///
  /// The path of a vault was given by somebody, who may give another; those beside it were not.
  private static func whatItIs(_ status: FileStatus, isVault: Bool) -> String {
    switch status {
    case _ where status.isLink && isVault: "it is a link, and \(StorageError.linkAdvice)"
    case _ where status.isLink: "it is a symbolic link, which is not followed; move it away"
    case _ where status.isFolder && isVault: "it is a folder, not a vault; give the path of a file"
    case _ where status.isDevice: "it is a device, not a vault; give the path of a file"
    default: "it is not a regular file; move it away"
    }
  }

  /// Refuses a name that SQLite would take for that of a file beside another vault, and write to or
  /// remove; for a vault that is to be made.
  func requireOwnName() throws(StorageError) {
    for suffix in ["-wal", "-shm", "-journal", "-notice"] where path.hasSuffix(suffix) {
      throw StorageError(
        .invalid,
        "a vault can't have a name that ends in \(suffix), because files beside other vaults have "
          + "such names; choose another name", path: path)
    }
  }

  /// Makes an empty vault, durably, unless there is a file already.
  func create() throws(StorageError) {
    try requireOwnName()
    try Folder.create(self.folder)
    let folder = try existingFolder()
    let bytes = try VaultSchema.emptyFile(path: path)
    _ = try unsafe DurableFile.createIfAbsent(name, in: folder, with: bytes.span.bytes)
  }
}
