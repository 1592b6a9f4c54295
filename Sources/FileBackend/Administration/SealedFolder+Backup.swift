internal import CryptoCore
internal import Glibc
public import StorageCore
public import VaultBackend

public import struct Foundation.URL

extension SealedFolder {
  /// How often the index is copied again, since a blob that it names was replaced meanwhile.
  private static let rounds = 100

  /// Copies the folder, as it is at one moment, to a folder of its own.
  ///
  /// Others may read and write meanwhile. The copy is a sealed folder that the same keys open, with every
  /// blob as it is, sealed, also a damaged one; ``verify(expecting:progress:)`` of the copy finds that.
  ///
  /// - Parameters:
  ///   - url: where to: a folder that is not there, or empty. One that is missing is made for the owner
  ///     alone.
  ///   - progress: told how many bytes of blobs are done, of how many, now and then.
  /// - Throws: `StorageError`: `unavailable` when there is nothing to copy, `invalid` when the place is
  ///   taken, `damaged` when a blob is gone, `busy` when large values are replaced all the time. The place
  ///   then holds an unfinished copy without an index, which can be removed.
  public func backup(to url: URL, progress: Progress? = nil) throws(StorageError) {
    let place = try unpreparedPlace()
    let copy = SealedFolder(
      at: url, keySource: index.store.keySource, access: .readOnly,
      folderTrust: index.folderTrust, algorithm: algorithm)
    let target = BlobPlace(path: FilePath.folder(of: try copy.index.resolvedPath()))
    try Self.requireFree(target)
    let unfinished = target.path + "/index.vault.unfinished"
    for _ in 0..<Self.rounds {
      try index.backup(to: URL(fileURLWithPath: unfinished), replacing: true)
      try target.create()
      let blobs = try blobEntries(ofCopy: unfinished)
      guard try copyBlobs(blobs, from: place, to: target, progress) else { continue }
      try target.keep(Set(blobs.map(\.id)))
      try target.synchronize()
      return try Self.finish(unfinished, target)
    }
    throw StorageError(.busy, "large values are replaced all the time; try again")
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
        .readOnly, "the folder was opened read-only", path: try index.resolvedPath())
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
    try Folder.create(place.path)
    try place.create()
    // The blobs have no name before the index is restored, and are removed under this lock alone.
    return try place.withUpkeepLock { () throws(StorageError) in
      let blobs = try source.blobEntries()
      guard try source.copyBlobs(blobs, from: from, to: place, progress) else {
        throw StorageError(
          .busy, "the backup was changed meanwhile; try again", path: from.path)
      }
      try place.synchronize()
      let restoration = try index.restore(
        from: URL(fileURLWithPath: try source.index.resolvedPath()), keySource: keySource)
      try source.copyWhatWasDropped(of: blobs, from: from, to: place)
      // What can't be removed is told by a verification, and the folder is restored.
      do throws(StorageError) { try removeUnnamed(place.blobIDs(), in: place) } catch {}
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
          "the folder is restored, but another process is removing a value's file since before; restore "
            + "it again", path: target.file(of: id))
      }
      if try target.open(id) == nil, let file = try place.open(id) {
        try target.copy(file, as: id)
        try target.synchronize()
      }
      marker.end { true }
    }
  }

  /// The blobs that the copy of an index names.
  ///
  /// The copy is closed afterwards, so that it can be replaced.
  private func blobEntries(ofCopy path: String) throws(StorageError) -> [BlobEntry] {
    let copy = VaultStorage(
      at: URL(fileURLWithPath: path, isDirectory: false), keySource: index.store.keySource,
      access: .readOnly, folderTrust: index.folderTrust)
    return try SealedFolder(copy, algorithm: algorithm).blobEntries()
  }

  /// The blobs that the index names.
  private func blobEntries() throws(StorageError) -> [BlobEntry] {
    var blobs: [BlobEntry] = []
    for name in try index.keys() {
      if let blob = try entry(named: name)?.blob { blobs.append(blob) }
    }
    return blobs
  }

  /// - Returns: false when a blob is not there that the index does not name any more.
  private func copyBlobs(
    _ blobs: [BlobEntry], from place: BlobPlace, to target: BlobPlace, _ progress: Progress?
  ) throws(StorageError) -> Bool {
    let total = blobs.reduce(0) { $0 + $1.length }
    var done = 0
    for blob in blobs {
      guard let file = try place.open(blob.id) else {
        guard try namedBlobs()?.contains(blob.id) == false else {
          throw StorageError(
            .damaged, "the file of a value is gone; verify the folder",
            path: place.file(of: blob.id))
        }
        return false
      }
      try target.copy(file, as: blob.id)
      done += blob.length
      progress?(done, total)
    }
    return true
  }

  private static func requireFree(_ target: BlobPlace) throws(StorageError) {
    for name in ["index.vault", "blobs", "pending"] {
      let path = target.path + "/" + name
      // What an interrupted backup left has blobs and no index.
      guard try FileStatus.ofEntry(path) == nil else {
        throw StorageError(
          .invalid, "there is something already; name a folder that is empty or not there",
          path: path)
      }
    }
  }

  private static func finish(
    _ unfinished: String, _ target: BlobPlace
  ) throws(StorageError) {
    let path = target.path + "/index.vault"
    guard unsafe Glibc.rename(unfinished, path) == 0 else {
      throw StorageError(system: "put the index in its place", path: path)
    }
    try Folder.synchronize(target.path)
  }
}

extension BlobPlace {
  /// Copies a blob's file, durably, unless the same is there.
  fileprivate func copy(_ source: borrowing OpenFile, as id: BlobID) throws(StorageError) {
    let size = try source.status().size
    if let there = try open(id), try there.status().size == size, try Self.equal(there, source) {
      return
    }
    try remove(id)
    let file = try make(id)
    try Self.forEachChunk(of: source) { (bytes, _) throws(StorageError) in
      try file.write(bytes)
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
