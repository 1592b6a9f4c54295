internal import CryptoCore
internal import Glibc
public import StorageCore
public import VaultBackend

public import struct FoundationEssentials.URL

extension SealedFolder {
  /// How often the index is copied again if a blob that it names was replaced meanwhile.
  private static let rounds = 100
  private static let unfinishedIndex = "index.vault.unfinished"
  private static let unfinishedFolder = "unfinished"

  /// Copies the folder, as it is at one moment, to a folder of its own.
  ///
  /// Others may read and write meanwhile. The copy is a sealed folder that the same keys open.
  /// Every blob is copied as it is, sealed, even a damaged one; ``verify(expecting:progress:)`` of
  /// the copy finds the damage.
  ///
  /// - Parameters:
  ///   - url: where to: a missing or empty folder. A missing folder is made for the owner alone.
  ///   - leavesOutUnreadable: whether the copy has only the values that can be read as a whole, so
  ///     that it is sound and can be restored; every segment is opened for that. Otherwise a value
  ///     without a file, or an entry that can't be read, is an error.
  ///   - kinds: with `leavesOutUnreadable`, the further findings that are repaired in the copy,
  ///     such as rolled back, deleted or added records; a finding of another kind is the error
  ///     `damaged`. Entries that do not open need not be named. See
  ///     ``SealedFolderBackup/accepted``.
  ///   - progress: told now and then how many of all blobs' bytes are done.
  /// - Returns: what was left out.
  /// - Throws: `StorageError`: `unavailable` when there is nothing to copy, `invalid` when the
  ///   place is taken, `damaged` when a blob is gone or an entry can't be read, `busy` when others
  ///   keep replacing large values. The unfinished copy is removed then; after a kill it stays,
  ///   without an index.
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
      // Refuse before copying the blobs, which may take long.
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

  /// Removes what a failed backup has made.
  private static func removeUnfinished(_ target: BlobPlace, _ isNew: Bool) {
    // Leftovers are only in the way of the next backup, which reports them.
    do throws(StorageError) {
      // The index may be in its place, although it is not known to be durable.
      guard let folder = try target.folder(), try !folder.contains("index.vault") else { return }
      let journals = ["", "-wal", "-shm", "-journal"].map { unfinishedIndex + $0 }
      for name in ["blobs", "pending", unfinishedFolder] + journals {
        do throws(StorageError) { try folder.removeAll(name) } catch {}
      }
    } catch {}
    if isNew { _ = unsafe rmdir(target.path) }  // an empty folder alone
  }

  /// Restores the folder from a backup.
  ///
  /// All names, values and key slots are the backup's afterwards; the index changes in one atomic
  /// step. The backup must open and be sound.
  ///
  /// - Parameters:
  ///   - url: the backup; it is only read.
  ///   - keySource: what opens the backup; nil means this folder's own source.
  ///   - progress: told now and then how many of all blobs' bytes are done.
  /// - Returns: what became of the index.
  /// - Throws: `StorageError`: `readOnly` when the folder was opened read-only; as
  ///   `VaultStorage.restore(from:keySource:progress:)`. The folder then has its old values, and may
  ///   have unnamed blobs of the backup, which the next restoration uses; or, where somebody removed a
  ///   value meanwhile, the backup's values without that one: restore it again.
  @discardableResult
  public func restore(
    from url: URL, keySource: KeySource? = nil, progress: Progress? = nil
  ) throws(StorageError) -> VaultRestoration {
    try index.requireWritable()
    try index.store.checkWrite(nil, "restore")
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
    // The blobs have no name before the index is restored. Only a holder of this lock may remove
    // unnamed blobs.
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
      // The folder is restored even if a blob can't be removed; a verification reports that blob.
      do throws(StorageError) { try removeAllUnnamed(in: place) } catch {}
      return restoration
    }
  }

  /// Copies blobs again that were removed after they were compared or copied, by somebody who had
  /// replaced or removed their value before the restoration.
  private func copyWhatWasDropped(
    of blobs: [BlobEntry], from place: BlobPlace, to target: BlobPlace
  ) throws(StorageError) {
    // Whoever removes a blob holds its marker from before the change of the index until the blob is
    // gone.
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

  /// The entries of a copied index and, if requested, the report of its verification.
  ///
  /// The copy is closed afterwards, so that it can be replaced.
  private func entries(
    ofCopy path: String, verifying isVerified: Bool
  ) throws(StorageError) -> (CopiedEntries, VaultReport?) {
    let copy = indexCopy(at: path, .readOnly)
    let report = isVerified ? try copy.verify() : nil
    return (try SealedFolder(copy, algorithm: algorithm).entries(), report)
  }

  private func indexCopy(at path: String, _ access: StoreAccess) -> VaultStorage {
    VaultStorage(
      at: URL(fileURLWithPath: path, isDirectory: false), keySource: index.store.keySource,
      access: access, folderTrust: index.folderTrust)
  }

  /// The entries of the index.
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

  /// - Returns: false when a blob is missing that the index no longer names.
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
      // The error names the original file.
      throw StorageError(.damaged, error.message, path: place.file(of: blob.id))
    }
  }

  /// Removes what a backup leaves out from the copy of the index; `report` is about this copy.
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
    // An interrupted backup leaves blobs and no index.
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
  /// Copies a blob's file, durably, unless the same file exists.
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

  /// Removes all blobs except those with these ids.
  fileprivate func keep(_ ids: Set<BlobID>) throws(StorageError) {
    for id in try blobIDs() where !ids.contains(id) { try remove(id) }
  }
}
