internal import CryptoCore
internal import Glibc
public import StorageCore
public import VaultBackend

public import struct Foundation.URL

extension SealedFolder {
  /// How often the index is copied again, since a blob that it names was replaced meanwhile.
  private static let rounds = 100
  private static let unfinishedIndex = "index.vault.unfinished"
  private static let unfinishedFolder = "unfinished"

  /// Copies the folder, as it is at one moment, to a folder of its own.
  ///
  /// Others may read and write meanwhile. The copy is a sealed folder that the same keys open, with every
  /// blob as it is, sealed, also a damaged one; ``verify(expecting:progress:)`` of the copy finds that.
  ///
  /// - Parameters:
  ///   - url: where to: a folder that is not there, or empty. One that is missing is made for the owner
  ///     alone.
  ///   - leavesOutUnreadable: whether the copy has all that can be read as a whole, and nothing else, so
  ///     that it is sound and can be restored; every segment is opened for that. Without it, what has no
  ///     file, or an entry that can't be read, is an error.
  ///   - kinds: what else the copy is repaired of that leaves out what can't be read, as rolled back, deleted
  ///     or added records; what is not named is the error `damaged`. Entries that do not open need not be
  ///     named. See ``SealedFolderBackup/accepted``.
  ///   - progress: told how many bytes of blobs are done, of how many, now and then.
  /// - Returns: what was left out.
  /// - Throws: `StorageError`: `unavailable` when there is nothing to copy, `invalid` when the place is
  ///   taken, `damaged` when a blob is gone or an entry can't be read, `busy` when large values are replaced
  ///   all the time. What was copied is removed then; after a kill it stays, without an index.
  @discardableResult
  public func backup(
    to url: URL, leavingOutUnreadable leavesOutUnreadable: Bool = false,
    accepting kinds: Set<VaultReport.Finding.Kind> = [], progress: Progress? = nil
  ) throws(StorageError) -> SealedFolderBackup {
    let place = try unpreparedPlace()
    let copy = SealedFolder(
      at: url, keySource: index.store.keySource, access: .readOnly,
      folderTrust: index.folderTrust, algorithm: algorithm)
    let target = try copy.unpreparedPlace()
    try Self.requireFree(target)
    let isNew = try target.folder() == nil
    let process = OwnProcess()
    do throws(StorageError) {
      return try makeCopy(
        of: place, in: target, leavingOutUnreadable: leavesOutUnreadable, accepting: kinds, progress
      )
    } catch {
      if process.isCurrent { Self.removeUnfinished(target, isNew) }
      throw error
    }
  }

  private func makeCopy(
    of place: BlobPlace, in target: BlobPlace, leavingOutUnreadable leavesOutUnreadable: Bool,
    accepting kinds: Set<VaultReport.Finding.Kind>, _ progress: Progress?
  ) throws(StorageError) -> SealedFolderBackup {
    let unfinished = target.path + "/" + Self.unfinishedIndex
    for _ in 0..<Self.rounds {
      try index.backup(to: URL(fileURLWithPath: unfinished), replacing: true)
      // What is refused is refused before the blobs, which may take long.
      var (entries, report) = try entries(ofCopy: unfinished, verifying: leavesOutUnreadable)
      let accepted = try report?.findings(acceptedAs: kinds, try index.resolvedPath()) ?? []
      if !leavesOutUnreadable { try entries.requireReadable(try index.resolvedPath()) }
      try target.create()
      guard
        try copyBlobs(
          &entries, from: place, to: target, leavingOutUnreadable: leavesOutUnreadable, progress)
      else { continue }
      var backup = entries.backup
      backup.leftOut.sort { $0.name < $1.name }
      if let report {
        backup.accept(accepted, of: report)
        try leaveOut(backup, report, of: unfinished, in: target)
      }
      try target.keep(Set(entries.blobs.map(\.blob.id)))
      try target.synchronize()
      try Self.finish(target)
      return backup
    }
    throw StorageError(.busy, "the large values keep changing; try again")
  }

  /// Removes what a backup that failed has made.
  private static func removeUnfinished(_ target: BlobPlace, _ isNew: Bool) {
    // What stays is in nobody's way but the next backup's, which says so.
    do throws(StorageError) {
      // The index may be in its place, and not known to be durable.
      guard let folder = try target.folder(), try !folder.contains("index.vault") else { return }
      let journals = ["", "-wal", "-shm", "-journal"].map { unfinishedIndex + $0 }
      for name in ["blobs", "pending", unfinishedFolder] + journals {
        do throws(StorageError) { try folder.removeAll(name) } catch {}
      }
    } catch {}
    if isNew { _ = unsafe rmdir(target.path) }  // an empty folder alone
  }

  /// Makes the folder what a backup was.
  ///
  /// All names, values and key slots are the backup's afterwards; the index changes in one atomic step.
  /// The backup has to open and to be sound.
  ///
  /// - Parameters:
  ///   - url: the backup; it is only read.
  ///   - keySource: what opens the backup; nil is this folder's own.
  ///   - progress: told how many bytes of blobs are done, of how many, now and then.
  /// - Returns: what became of the index.
  /// - Throws: `StorageError`: as `VaultStorage.restore(from:keySource:progress:)`; the folder then has what
  ///   it had, and may have blobs of the backup that no name has; the next restoration takes them.
  @discardableResult
  public func restore(
    from url: URL, keySource: KeySource? = nil, progress: Progress? = nil
  ) throws(StorageError) -> VaultRestoration {
    guard access == .readWrite else {
      throw StorageError(
        .readOnly, "the folder was opened read-only; open it with write access to change it",
        path: try index.resolvedPath())
    }
    let source = SealedFolder(
      at: url, keySource: keySource ?? index.store.keySource, access: .readOnly,
      folderTrust: index.folderTrust)
    let report = try source.verify()
    guard report.isSound else {
      let message = report.findings.first?.message ?? report.index.findings[0].message
      throw StorageError(
        .damaged, "the backup is not sound: \(message)", path: try source.index.resolvedPath())
    }
    let from = try source.unpreparedPlace()
    let place = try unpreparedPlace()
    try place.create(withFolder: true)
    // The blobs have no name before the index is restored, and are removed under this lock alone.
    return try place.withUpkeepLock { () throws(StorageError) in
      var entries = try source.entries()
      try entries.requireReadable(from.path)
      guard try source.copyBlobs(&entries, from: from, to: place, progress) else {
        throw StorageError(
          .busy, "the backup was changed meanwhile; try again", path: from.path)
      }
      try place.synchronize()
      let restoration = try index.restore(
        from: URL(fileURLWithPath: try source.index.resolvedPath()), keySource: keySource)
      try source.copyWhatWasDropped(of: entries.blobs.map(\.blob), from: from, to: place)
      // What can't be removed is told by a verification, and the folder is restored.
      do throws(StorageError) { try removeAllUnnamed(in: place) } catch {}
      return restoration
    }
  }

  /// Copies again what somebody removed who had replaced or removed a value before the restoration, after
  /// its blob was compared or copied: the name has its blob again.
  private func copyWhatWasDropped(
    of blobs: [BlobEntry], from place: BlobPlace, to target: BlobPlace
  ) throws(StorageError) {
    // Whoever is about to remove one has its marker from before the index was changed until it is gone.
    let pending = Set(try target.pendingIDs())
    for id in blobs.map(\.id) {
      let isThere = try target.open(id) != nil
      guard pending.contains(id) || !isThere else { continue }
      guard
        let marker = try PendingMarker.claim(
          id, in: target, waiting: VaultDelegate.standardDeadline)
      else {
        throw StorageError(
          .busy,
          "the folder is restored, but another process began to remove a value's file before the "
            + "restore; restore it again", path: target.file(of: id))
      }
      if try target.open(id) == nil, let file = try place.open(id) {
        try target.copy(file, as: id)
        try target.synchronize()
      }
      marker.end { true }
    }
  }

  /// The entries of the copy of an index, and what a verification of it found, if that is asked for.
  ///
  /// The copy is closed afterwards, so that it can be replaced.
  private func entries(
    ofCopy path: String, verifying isVerified: Bool
  ) throws(StorageError) -> (CopiedEntries, VaultReport?) {
    let copy = indexCopy(at: path, .readOnly)
    let report = isVerified ? try copy.verify() : nil
    return (try SealedFolder(copy, algorithm: algorithm).entries(), report)
  }

  private func indexCopy(at path: String, _ access: VaultAccess) -> VaultStorage {
    VaultStorage(
      at: URL(fileURLWithPath: path, isDirectory: false), keySource: index.store.keySource,
      access: access, folderTrust: index.folderTrust)
  }

  /// What the index has.
  private func entries() throws(StorageError) -> CopiedEntries {
    let listing = try index.listing()
    var entries = CopiedEntries(backup: SealedFolderBackup(unnamedCount: listing.unreadable))
    for name in listing.keys.sorted() {
      do throws(StorageError) {
        if let blob = try entry(named: name)?.blob { entries.blobs.append((name, blob)) }
      } catch {
        guard error.isOfEntry else { throw error }
        entries.leave(name, error)
      }
    }
    return entries
  }

  /// - Returns: false when a blob is not there that the index does not name any more.
  private func copyBlobs(
    _ entries: inout CopiedEntries, from place: BlobPlace, to target: BlobPlace,
    leavingOutUnreadable leavesOutUnreadable: Bool = false, _ progress: Progress?
  ) throws(StorageError) -> Bool {
    let blobs = entries.blobs
    let total = blobs.reduce(0) { $0 + $1.blob.length }
    var done = 0
    let process = OwnProcess()
    entries.blobs = []
    for (name, blob) in blobs {
      do throws(StorageError) {
        guard let file = try place.open(blob.id) else {
          guard try entry(named: name)?.blob?.id == blob.id else { return false }
          throw Self.missing(blob.id, in: place, name)
        }
        try target.copy(file, as: blob.id) { progress?(done + min($0, blob.length), total) }
        if leavesOutUnreadable { try requireWhole(blob, in: target, place) }
        entries.blobs.append((name, blob))
      } catch {
        guard error.isOfValue || error.code == .io && error.path == place.file(of: blob.id) else {
          throw error
        }
        guard leavesOutUnreadable else { throw error.advisingToLeaveOut(name) }
        entries.leave(name, error)
      }
      done += blob.length
      progress?(done, total)
      try process.require("the copy", path: target.path)
    }
    return true
  }

  /// Opens the copy of a blob from its first to its last segment.
  private func requireWhole(
    _ blob: BlobEntry, in target: BlobPlace, _ place: BlobPlace
  ) throws(StorageError) {
    do throws(StorageError) {
      guard
        let reader = try BlobReader(blob, in: target, store: storeID(), under: nil)
      else {
        throw StorageError(
          .io, "the copy was removed during the backup; try again", path: target.file(of: blob.id))
      }
      try reader.forEachSegment { (_) throws(StorageError) in }
    } catch {
      guard error.code == .damaged else { throw error }
      // The file to look after is the one that was copied.
      throw StorageError(.damaged, error.message, path: place.file(of: blob.id))
    }
  }

  /// Removes what a backup leaves out from the copy of the index, which `report` is of.
  private func leaveOut(
    _ backup: SealedFolderBackup, _ report: VaultReport, of path: String, in target: BlobPlace
  ) throws(StorageError) {
    guard !backup.isComplete || !report.isSound else { return }
    // In a folder of its own, since a vault that is written to has files beside it.
    let parent = try target.existingFolder()
    let folder = parent.path(of: Self.unfinishedFolder)
    try parent.removeAll(Self.unfinishedFolder)
    _ = try parent.makeFolder(Self.unfinishedFolder)
    let changed = folder + "/index.vault"
    try indexCopy(at: path, .readOnly).backup(to: URL(fileURLWithPath: changed))
    let index = indexCopy(at: changed, .readWrite)
    try index.repair(accepting: report, droppingUnreadable: true)
    for left in backup.leftOut { try index.delete(forKey: left.name) }
    try index.backup(to: URL(fileURLWithPath: path), replacing: true)
    try parent.removeAll(Self.unfinishedFolder)
  }

  private static func requireFree(_ target: BlobPlace) throws(StorageError) {
    guard let folder = try target.folder() else { return }
    // What an interrupted backup left has blobs and no index.
    for name in ["index.vault", "blobs", "pending"] where try folder.contains(name) {
      throw StorageError(
        .invalid,
        "the folder already contains files of a sealed folder; give an empty or a new folder",
        path: folder.path(of: name))
    }
  }

  private static func finish(_ target: BlobPlace) throws(StorageError) {
    let folder = try target.existingFolder()
    try folder.rename(unfinishedIndex, to: "index.vault", "put the index in its place")
    try folder.synchronize()
  }
}

extension BlobPlace {
  /// Copies a blob's file, durably, unless the same is there.
  ///
  /// `progress` is told how many bytes are copied, every 4 MiB.
  fileprivate func copy(
    _ source: borrowing OpenFile, as id: BlobID, _ progress: (Int) -> Void = { _ in }
  ) throws(StorageError) {
    let size = try source.status().size
    if let there = try open(id), try there.status().size == size, try Self.equal(there, source) {
      return
    }
    try remove(id)
    let file = try make(id)
    let process = OwnProcess()
    try Self.forEachChunk(of: source) { (bytes, offset) throws(StorageError) in
      try file.write(bytes)
      if offset / SegmentLayout.sealedSize % 64 == 63 {
        progress(offset + bytes.byteCount)
        try process.require("the copy", path: path)
      }
      return true
    }
    try file.synchronize()
  }

  private static func equal(
    _ one: borrowing OpenFile, _ other: borrowing OpenFile
  ) throws(StorageError) -> Bool {
    let buffer = PlainBuffer(count: SegmentLayout.sealedSize)
    var isEqual = true
    try forEachChunk(of: one) { (bytes, offset) throws(StorageError) in
      let count = try buffer.write(0..<bytes.byteCount) { (output) throws(StorageError) in
        try other.fill(&output, from: offset)
      }
      isEqual =
        count == bytes.byteCount
        && buffer.read(0..<count) { ConstantTime.equal($0, bytes) }
      return isEqual
    }
    return isEqual
  }

  private static func forEachChunk(
    of file: borrowing OpenFile, _ body: (RawSpan, Int) throws(StorageError) -> Bool
  ) throws(StorageError) {
    let buffer = PlainBuffer(count: SegmentLayout.sealedSize)
    var offset = 0
    while true {
      try SealedFileReader.checkCancellation(nil)
      let count = try buffer.write(0..<SegmentLayout.sealedSize) { (output) throws(StorageError) in
        try file.fill(&output, from: offset)
      }
      guard count > 0 else { return }
      let goesOn = try buffer.read(0..<count) { (bytes) throws(StorageError) in
        try body(bytes, offset)
      }
      guard goesOn else { return }
      offset += count
    }
  }

  /// Removes all blobs but some.
  fileprivate func keep(_ ids: Set<BlobID>) throws(StorageError) {
    for id in try blobIDs() where !ids.contains(id) { try remove(id) }
  }
}
