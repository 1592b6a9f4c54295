internal import CryptoCore
internal import Glibc
internal import StorageCore

internal import struct FoundationEssentials.URL

/// The file of a vault and those beside it.
struct VaultFile: Hashable, Sendable {
  /// A stamp that tells states of a file apart that only other processes write.
  struct Stamp: Hashable, Sendable {
    let file: FileStatus?
    let log: FileStatus?
    /// Only the size, since SQLite changes the owner of a journal when it opens one as root.
    let journalSize: Int?
  }

  /// The absolute path without links.
  let path: String
  /// Who may write to the folders, besides this user and root.
  let trust: FolderTrust

  /// Two values are equal if the path is the same, whatever the trust.
  static func == (left: VaultFile, right: VaultFile) -> Bool {
    ExactString(text: left.path) == ExactString(text: right.path)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(ExactString(text: path)) }

  var folder: String { FilePath.folder(of: path) }
  /// The name in the folder.
  var name: String { FilePath.name(of: path) }
  /// SQLite's write-ahead log.
  var logPath: String { path + "-wal" }
  /// SQLite's index of it, which is shared memory.
  var indexPath: String { path + "-shm" }
  /// The rollback journal, which exists only while a file switches to a log or back.
  var journalPath: String { path + "-journal" }
  /// Touched after each commit, for processes that watch it.
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
    try FilePath.requireRoom(at: self.path, for: Self.longestSuffix, limit: Self.pathLimit)
  }

  /// SQLite's longest path in bytes, MAX_PATHNAME in its os.h.
  private static let pathLimit = 512
  /// The longest suffix of the names of the files beside a vault.
  private static let longestSuffix = "-journal"

  /// Whether SQLite can use a file of this name in a folder, and the files beside it.
  static func hasRoom(for name: String, in folder: String) -> Bool {
    FilePath.hasRoom(at: folder + "/" + name, for: longestSuffix, limit: pathLimit)
  }

  /// The same for a file URL.
  init(_ url: URL, _ trust: FolderTrust = .owner) throws(StorageError) {
    try self.init(url.isFileURL ? url.path(percentEncoded: false) : "", trust)
  }

  /// Opens the folder; refuses it if others could replace it or a folder above it.
  ///
  /// The path was resolved once, so a link in it now was put there since.
  ///
  /// - Returns: nil when it does not exist.
  /// - Throws: `denied`.
  func openFolder() throws(StorageError) -> FolderDescriptor? {
    try FolderDescriptor.open(folder, links: .refused) { (status, path) throws(StorageError) in
      try requirePrivate(status, path)
    }
  }

  /// Makes the folder where it is missing, once every folder on the way to it was checked.
  ///
  /// - Throws: `denied`; nothing was made.
  func createFolder() throws(StorageError) {
    let made = try FolderDescriptor.open(folder, links: .refused, isMaking: true) {
      (status, path) throws(StorageError) in
      try requirePrivate(status, path)
    }
    guard made == nil else { return }
    throw StorageError(
      .busy, "the folder was removed while it was being made; try again", path: folder)
  }

  private func requirePrivate(_ status: FileStatus, _ path: String) throws(StorageError) {
    // Nobody else may write to the folder itself, sticky or not: in `/tmp`, others could create the
    // files that SQLite looks for beside the vault.
    if path == folder, trust.lets(othersWriteInto: status, at: path) {
      throw StorageError(
        .denied,
        "other users can write to the vault's folder; "
          // A sticky folder, such as /tmp, is meant for all users; its permissions must stay.
          + (status.isSticky ? "use a folder of your own" : trust.advice(for: status)),
        path: folder)
    }
    try Folder.requirePrivate(status, path, trust)
  }

  /// The identity of the file that the path leads to now; nil when there is none.
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

  /// The present state; takes three lstat(2) calls.
  func stamp() throws(StorageError) -> Stamp {
    Stamp(
      file: try FileStatus.ofEntry(path), log: try FileStatus.ofEntry(logPath),
      journalSize: try FileStatus.ofEntry(journalPath)?.size)
  }

  /// Whether there is a log that is not empty.
  func hasLog() throws(StorageError) -> Bool { try logSize() > 0 }

  /// The size of the log in bytes, 0 when there is none.
  func logSize() throws(StorageError) -> Int { try FileStatus.ofEntry(logPath)?.size ?? 0 }

  /// Whether the file has everything that was committed: the log is empty or missing, and no
  /// journal of a writer that died is left.
  func standsAlone() throws(StorageError) -> Bool {
    let journal = try FileStatus.ofEntry(journalPath)?.size ?? 0
    return try !hasLog() && journal == 0
  }

  /// Whether the file can be written to.
  var isWritable: Bool { unsafe access(path, W_OK) == 0 }

  /// Whether files can be made in the folder.
  var isFolderWritable: Bool { unsafe access(folder, W_OK) == 0 }

  // MARK: - Checks

  /// Whether the vault exists; refuses a file that can't be a vault of ours.
  ///
  /// SQLite uses every file that it finds, so all of them are checked first. The vault is not
  /// opened here: closing a descriptor releases the process's locks on the file (fcntl(2)).
  ///
  /// - Parameters:
  ///   - mending: whether to remove other users' permission to read the files.
  ///   - allowingEmpty: whether an empty file is accepted, since it will be replaced.
  /// - Returns: whether the vault exists.
  /// - Throws: `denied` for a file that somebody else could have put there, or that is not regular;
  ///   `damaged` for a journal that can't belong to a vault.
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

  /// The vault's own file, or nil when there is neither the file nor a leftover log or journal.
  private func entry(in folder: FolderDescriptor) throws(StorageError) -> FileStatus? {
    if let status = try folder.status(of: name) { return status }
    for rest in [logPath, journalPath] {
      guard let left = try folder.status(of: FilePath.name(of: rest)), left.size > 0 else {
        continue
      }
      // Another process may just have made it.
      if let status = try folder.status(of: name) { return status }
      // A vault that is made or put here would be read together with the leftover file.
      throw StorageError(
        .damaged,
        "the vault is gone, but its log is still there; put the vault back, or move the log away",
        path: rest)
    }
    return nil
  }

  /// Refuses a rollback journal that SQLite can't have written for a vault.
  ///
  /// The journal of a transaction over several files ends with the path of one more file, which
  /// SQLite opens, reads and removes when it plays the journal back. A vault never has such a
  /// journal, which could make SQLite remove any file of the user. SQLite would also remove a file
  /// that is no journal but has the name of one. https://sqlite.org/fileformat2.html, "The Rollback
  /// Journal".
  private func checkJournal(
    besides file: FileStatus, in folder: FolderDescriptor
  ) throws(StorageError) {
    let name = FilePath.name(of: journalPath)
    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    guard let status = try folder.status(of: name), status.size > 0 else { return }
    // Closing a descriptor of the vault itself would release this process's locks on it.
    guard status.inode != file.inode || status.device != file.device else {
      throw StorageError(
        .damaged, "it is the vault itself under another name; remove that name", path: journalPath)
    }
    guard let journal = try OpenFile(name, in: folder, O_RDONLY | O_NONBLOCK) else { return }
    let first = try journal.readFirst(magic.count)
    // A power cut may leave a journal of zeros.
    guard first.first ?? 0 == 0 || magic.starts(with: first) else {
      throw StorageError(
        .damaged,
        "the file has the name of the vault's journal but is not a journal, and SQLite would "
          + "remove it; move it away, or give the vault another name", path: journalPath)
    }
    // In a journal no longer than its head, the end is the head itself.
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
      throw Self.notRegular(status, path, isVault: path == self.path)
    }
    try status.requireOwner(path)
    try status.requireUnshared(path, trust)
    guard mending, status.permissions & 0o077 != 0, status.owner == geteuid() else { return }
    // On a read-only disk the permissions can't be changed.
    guard folder.setPrivate(FilePath.name(of: path)) || errno == EROFS else {
      throw StorageError(system: "remove other users' access to the file", path: path)
    }
  }

  /// The error for what is in the place of a regular file.
  static func notRegular(_ status: FileStatus, _ path: String, isVault: Bool) -> StorageError {
    StorageError(.denied, whatItIs(status, isVault: isVault), path: path)
  }

  /// The kind of thing that is in the place of a regular file, and what to do about it.
  ///
  /// The user chose the path of a vault and may choose another, but not the paths of the files
  /// beside it.
  private static func whatItIs(_ status: FileStatus, isVault: Bool) -> String {
    switch status {
    case _ where status.isLink && isVault: "it is a link, and \(StorageError.linkAdvice)"
    case _ where status.isLink: "it is a symbolic link, which is not followed; move it away"
    case _ where status.isFolder && isVault: "it is a folder, not a vault; give the path of a file"
    case _ where status.isDevice: "it is a device, not a vault; give the path of a file"
    default: "it is not a regular file; move it away"
    }
  }

  /// Refuses to make a vault whose name SQLite would take for a file beside another vault, and
  /// would write to or remove.
  func requireOwnName() throws(StorageError) {
    for suffix in FilePath.companionSuffixes where path.hasSuffix(suffix) {
      throw StorageError(
        .invalid,
        "a vault can't have a name that ends in \(suffix), because files beside other vaults have "
          + "such names; choose another name", path: path)
    }
  }

  /// Refuses to make a vault of such a name, or beside another's file of such a name.
  func requireRoom(in folder: FolderDescriptor) throws(StorageError) {
    try requireOwnName()
    try requireNoOther(indexPath, in: folder) { $0 % (32 << 10) == 0 }
    try requireNoOther(noticePath, in: folder) { $0 <= 1 || $0 == VaultNotice.reserve }
  }

  /// Refuses another's file that would be written to or removed with the vault.
  ///
  /// Told by its size: to open and close SQLite's file of locks would drop those of this process.
  private func requireNoOther(
    _ path: String, in folder: FolderDescriptor, isOurs: (Int) -> Bool
  ) throws(StorageError) {
    guard let size = try folder.status(of: FilePath.name(of: path))?.size, !isOurs(size) else {
      return
    }
    // Where another process has just made the vault, its file may still grow.
    guard try folder.status(of: name) == nil else { return }
    throw StorageError(
      .invalid,
      "a file beside the vault would have this name, and there is another one, which would be lost; "
        + "move it away, or give the vault another name", path: path)
  }

  /// Makes an empty vault, durably, unless there is a file already.
  func create() throws(StorageError) {
    try requireOwnName()
    try createFolder()
    let folder = try existingFolder()
    try requireRoom(in: folder)
    let bytes = try VaultSchema.emptyFile(path: path)
    _ = try unsafe DurableFile.createIfAbsent(name, in: folder, with: bytes.span.bytes)
  }
}
