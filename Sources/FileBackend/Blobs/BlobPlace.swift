internal import CryptoCore
internal import Glibc
internal import StorageCore
internal import VaultBackend

/// The folder of a sealed folder, and what lies in it beside the index.
struct BlobPlace: Sendable {
  /// The absolute path of the sealed folder, without links.
  let path: String
  /// Who may write to it, besides this user and root.
  var trust = FolderTrust.owner

  private var blobs: String { path + "/blobs" }
  private var pending: String { path + "/pending" }

  /// The file of a blob.
  func file(of id: BlobID) -> String { blobs + "/" + id.fileName }

  /// The file that says that the index may not name a blob.
  func marker(of id: BlobID) -> String { pending + "/" + id.fileName }

  /// Runs `body` while nobody else removes blobs that no name has and that have no marker.
  ///
  /// - Throws: what `body` throws, or `StorageError`: `busy` when another one does that for long.
  func withUpkeepLock<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let lock = try FileLock(pending + "/upkeep.lock", waiting: VaultDelegate.standardDeadline)
    let result = try body()
    _ = consume lock
    return result
  }

  /// Makes the folders, durably, where they are missing, and checks them.
  ///
  /// To be called when the index is there, which makes and checks the folder around them.
  func create() throws(StorageError) {
    for folder in [blobs, pending] {
      if try !check(folder) {
        try Folder.create(folder)
        _ = try check(folder)
      }
    }
  }

  /// Refuses folders in which somebody else could put files.
  ///
  /// - Returns: whether both are there.
  func check() throws(StorageError) -> Bool {
    let hasBlobs = try check(blobs)
    let hasPending = try check(pending)
    return hasBlobs && hasPending
  }

  private func check(_ folder: String) throws(StorageError) -> Bool {
    guard let status = try FileStatus.ofEntry(folder) else { return false }
    guard status.isFolder else {
      throw StorageError(
        .denied, "a sealed folder needs a folder here, but this is a file or a link; move it away",
        path: folder)
    }
    // Root's can be read, as a vault's file.
    guard status.owner == geteuid() || status.owner == 0 else {
      throw StorageError(
        .denied, "the folder belongs to another user: \(StorageError.ownerAdvice)", path: folder)
    }
    guard !trust.lets(othersWriteTo: status) else {
      throw StorageError(
        .denied,
        "other users can write to the folder; check whether another user changed it, then run chmod "
          + "700 on it", path: folder)
    }
    return true
  }

  /// Refuses the file of a blob that somebody else could have put there.
  func check(_ status: FileStatus, _ path: String) throws(StorageError) {
    guard status.isRegular else {
      throw StorageError(.denied, "it is not a regular file; move it away", path: path)
    }
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
  }

  /// Opens the file of a blob for reading.
  ///
  /// - Returns: nil when there is none.
  /// - Throws: `denied` for what is no file of ours.
  func open(_ id: BlobID) throws(StorageError) -> OpenFile? {
    let path = file(of: id)
    guard try check() else { return nil }
    do throws(StorageError) {
      guard let file = try OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { return nil }
      try check(try file.status(), path)
      return file
    } catch {
      // A socket, or a device without a driver, can't be opened: open(2), ENXIO.
      if let status = try FileStatus.ofEntry(path) { try check(status, path) }
      throw error
    }
  }

  /// Makes the file of a blob.
  func make(_ id: BlobID) throws(StorageError) -> OpenFile {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
    guard let file = try OpenFile(file(of: id), flags, permissions: 0o600) else {
      throw StorageError(
        .io, "the new file disappeared while it was being made; try again", path: file(of: id))
    }
    return file
  }

  /// Removes the file of a blob.
  ///
  /// - Returns: whether it was there.
  /// - Throws: `StorageError` when it is there still.
  @discardableResult
  func remove(_ id: BlobID) throws(StorageError) -> Bool {
    guard unsafe unlink(file(of: id)) != 0 else { return true }
    guard errno != ENOENT else { return false }
    throw StorageError(system: "remove the file", path: file(of: id))
  }

  /// Makes what was made and removed durable.
  func synchronize() throws(StorageError) {
    try Folder.synchronize(blobs)
    try Folder.synchronize(pending)
  }

  /// The ids of all files in `blobs`.
  func blobIDs() throws(StorageError) -> [BlobID] { try ids(in: blobs) }

  /// The ids of all files in `pending`.
  func pendingIDs() throws(StorageError) -> [BlobID] { try ids(in: pending) }

  /// Whether there are blobs.
  func hasBlobs() throws(StorageError) -> Bool {
    guard try FileStatus.ofEntry(blobs) != nil else { return false }
    return try !blobIDs().isEmpty
  }

  private func ids(in folder: String) throws(StorageError) -> [BlobID] {
    guard try check(folder) else { return [] }
    guard let stream = unsafe opendir(folder) else {
      throw StorageError(system: "list the folder", path: folder)
    }
    defer { unsafe closedir(stream) }
    var ids: [BlobID] = []
    while true {
      // readdir(3): nil at the end and at an error, which sets errno.
      errno = 0
      guard let entry = unsafe readdir(stream) else {
        guard errno == 0 else { throw StorageError(system: "list the folder", path: folder) }
        return ids
      }
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let id = BlobID(fileName: name) { ids.append(id) }
    }
  }
}
