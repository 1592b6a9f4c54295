internal import CryptoCore
internal import Glibc
internal import StorageCore
internal import VaultBackend

/// The folder of a sealed folder, and the files in it beside the index.
///
/// The folders are opened once, component by component and without following a link, and checked.
/// From then on only names in them are used, so nobody who can write to a folder on the way can
/// lead a call elsewhere.
struct BlobPlace: Sendable {
  /// The folders, once they were opened.
  private struct Folders {
    let blobs: FolderDescriptor
    let pending: FolderDescriptor
  }

  private static let blobsName = "blobs"
  private static let pendingName = "pending"

  /// The absolute path of the sealed folder, without links.
  let path: String
  /// Who may write to it, besides this user and root.
  let trust: FolderTrust
  private let opened = Lock<Folders?>(nil)

  init(path: String, trust: FolderTrust = .owner) {
    self.path = path
    self.trust = trust
  }

  /// The path of the file of a blob, for errors.
  func file(of id: BlobID) -> String { "\(path)/\(Self.blobsName)/\(id.fileName)" }

  // MARK: - Folders

  /// Opens the sealed folder; nil when it does not exist.
  ///
  /// - Throws: `denied` for a way on which somebody else could put another folder.
  func folder(isMaking: Bool = false) throws(StorageError) -> FolderDescriptor? {
    try FolderDescriptor.open(path, links: .refused, isMaking: isMaking) {
      (status, path) throws(StorageError) in
      try Folder.requirePrivate(status, path, trust)
    }
  }

  /// Opens the sealed folder, which must exist.
  func existingFolder() throws(StorageError) -> FolderDescriptor {
    if let folder = try folder() { return folder }
    throw StorageError(
      .unavailable, "the folder does not exist; create it, or check the path", path: path)
  }

  /// Opens one of the folders; nil when it does not exist.
  private func open(_ name: String) throws(StorageError) -> FolderDescriptor? {
    guard let folder = try folder() else { return nil }
    return try open(name, in: folder)
  }

  private func open(
    _ name: String, in folder: FolderDescriptor
  ) throws(StorageError) -> FolderDescriptor? {
    guard let child = try folder.child(name) else { return nil }
    try check(folder: child)
    return child
  }

  private func known() throws(StorageError) -> Folders? {
    if let folders = opened.withLock({ $0 }) { return folders }
    guard let folder = try folder(), let blobs = try open(Self.blobsName, in: folder),
      let pending = try open(Self.pendingName, in: folder)
    else { return nil }
    let folders = Folders(blobs: blobs, pending: pending)
    opened.withLock { $0 = folders }
    return folders
  }

  private func folders() throws(StorageError) -> Folders {
    if let folders = try known() { return folders }
    throw StorageError(
      .unavailable, "the folders of the sealed folder are gone; restore it from a backup",
      path: path)
  }

  /// The folder of blobs, even if the folder of markers is missing.
  private func blobsAlone() throws(StorageError) -> FolderDescriptor? {
    if let blobs = try known()?.blobs { return blobs }
    return try open(Self.blobsName)
  }

  /// The folder of markers, even if the folder of blobs is missing.
  private func pendingAlone() throws(StorageError) -> FolderDescriptor? {
    if let pending = try known()?.pending { return pending }
    return try open(Self.pendingName)
  }

  /// The folder of markers, open.
  func pending() throws(StorageError) -> FolderDescriptor { try folders().pending }

  /// Runs `body` while nobody else removes blobs that have neither name nor marker.
  ///
  /// - Throws: what `body` throws, or `StorageError`: `busy` when somebody else does that for too
  ///   long.
  func withUpkeepLock<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let lock = try FileLock(
      "upkeep.lock", in: try pending(), waiting: VaultDelegate.standardDeadline)
    let result = try body()
    _ = consume lock
    return result
  }

  /// Makes the folders, durably, where they are missing, and checks them.
  ///
  /// - Parameter withFolder: whether the folder around them is made too; else the index has made
  ///   it.
  /// - Throws: `denied` for a folder where others could put files; else why they can't be made.
  func create(withFolder: Bool = false) throws(StorageError) {
    if try known() != nil { return }
    if withFolder { _ = try folder(isMaking: true) }
    let folder = try existingFolder()
    for name in [Self.blobsName, Self.pendingName] where try open(name, in: folder) == nil {
      if try folder.makeFolder(name) { try folder.synchronize() }
    }
    _ = try folders()
  }

  /// Refuses folders in which somebody else could put files.
  ///
  /// - Returns: whether both are there.
  func check() throws(StorageError) -> Bool { try known() != nil }

  private func check(folder: FolderDescriptor) throws(StorageError) {
    let status = try folder.status()
    try status.requireOwner(folder.path)
    guard !trust.lets(othersWriteInto: status, at: folder.path) else {
      throw StorageError(
        .denied,
        "other users can write to the folder; check whether another user changed it, then run chmod "
          + "700 on it", path: folder.path)
    }
  }

  // MARK: - Files

  /// Refuses the file of a blob that somebody else could have put there.
  func check(_ status: FileStatus, _ path: String) throws(StorageError) {
    try status.requireRegular(path)
    try status.requireOwner(path)
    try status.requireUnshared(path, trust)
  }

  /// Opens the file of a blob for reading.
  ///
  /// - Returns: nil when there is none.
  /// - Throws: `denied` for a file that is not ours.
  func open(_ id: BlobID) throws(StorageError) -> OpenFile? {
    guard let blobs = try known()?.blobs else { return nil }
    let path = blobs.path(of: id.fileName)
    do throws(StorageError) {
      guard let file = try OpenFile(id.fileName, in: blobs, O_RDONLY | O_NONBLOCK) else {
        return nil
      }
      try check(try file.status(), path)
      return file
    } catch {
      // A socket, or a device without a driver, can't be opened: open(2), ENXIO.
      if let status = try blobs.status(of: id.fileName) { try check(status, path) }
      throw error
    }
  }

  /// Makes the file of a blob.
  func make(_ id: BlobID) throws(StorageError) -> OpenFile {
    let blobs = try folders().blobs
    guard let file = try OpenFile(id.fileName, in: blobs, O_RDWR | O_CREAT | O_EXCL) else {
      throw StorageError(
        .io, "the new file disappeared while it was being made; try again", path: file(of: id))
    }
    return file
  }

  /// Removes the file of a blob.
  ///
  /// - Returns: whether it was there.
  /// - Throws: `StorageError` when the file still exists.
  @discardableResult
  func remove(_ id: BlobID) throws(StorageError) -> Bool {
    try blobsAlone()?.remove(id.fileName) ?? false
  }

  /// Whether there is an entry for the file of a blob.
  func hasFile(of id: BlobID) throws(StorageError) -> Bool {
    try blobsAlone()?.contains(id.fileName) ?? false
  }

  /// Whether a blob has a marker, which means that the index may not name the blob.
  func hasMarker(of id: BlobID) throws(StorageError) -> Bool {
    try pendingAlone()?.contains(id.fileName) ?? false
  }

  /// Makes the creation and removal of files durable.
  ///
  /// - Throws: also `busy` when the folders were exchanged since they were opened: the index would
  ///   name a blob that is elsewhere now.
  func synchronize() throws(StorageError) {
    let folders = try folders()
    try folders.blobs.synchronize()
    try folders.pending.synchronize()
    for (name, opened) in [
      (Self.blobsName, folders.blobs), (Self.pendingName, folders.pending),
    ] {
      guard try open(name)?.status().identity == opened.status().identity else {
        throw StorageError(
          .busy, "the folder was exchanged for another one meanwhile; try again", path: opened.path)
      }
    }
  }

  /// The ids of all files in `blobs`.
  func blobIDs() throws(StorageError) -> [BlobID] { try ids(in: Self.blobsName) }

  /// The ids of all files in `pending`.
  func pendingIDs() throws(StorageError) -> [BlobID] { try ids(in: Self.pendingName) }

  /// Whether there are blobs.
  func hasBlobs() throws(StorageError) -> Bool { try !blobIDs().isEmpty }

  private func ids(in name: String) throws(StorageError) -> [BlobID] {
    try open(name)?.names().compactMap { BlobID(fileName: $0) } ?? []
  }
}
