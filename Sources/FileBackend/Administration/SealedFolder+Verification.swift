internal import CryptoCore
public import StorageCore

extension SealedFolder {
  /// Looks at everything: the index, whether each name has its blob, whether each segment
  /// authenticates, and whether there are blobs that nobody names.
  ///
  /// Nothing is changed, and others may read and write meanwhile. It reads and opens everything in
  /// the folder.
  ///
  /// - Parameters:
  ///   - names: names that may have had a value, as for a vault's verification.
  ///   - progress: told now and then how many of all bytes are done.
  /// - Returns: what is not as it should be.
  /// - Throws: `StorageError`: `unavailable` when there is no index, or why it can't be opened;
  ///   `cancelled` when the task was.
  public func verify(
    expecting names: [StoreKey] = [], progress: Progress? = nil
  ) throws(StorageError) -> SealedFolderReport {
    let place = try unpreparedPlace()
    let indexReport = try index.verify(expecting: names)
    // List blobs before names: a blob listed now has a name or a marker when the names are listed,
    // or is gone.
    let blobs = try place.blobIDs()
    var verification = FolderVerification(self, place)
    if indexReport.recordCount > 0 { try verification.run(progress) }
    try verification.addUnnamed(among: blobs)
    return try verification.report(indexReport)
  }

  /// Checks what can be checked without reading the values: whether each name has its blob, with
  /// the length and the last tag that the index has, and whether there are blobs without a name.
  ///
  /// Nothing is changed, and others may read and write meanwhile. It opens every entry of the index
  /// and every blob's file. Only ``verify(expecting:progress:)`` finds damaged segments.
  ///
  /// - Returns: what is wrong beside the index.
  /// - Throws: `StorageError`: why the index can't be opened.
  public func inspect() throws(StorageError) -> [SealedFolderReport.Finding] {
    let place = try unpreparedPlace()
    guard try FileStatus.ofEntry(try index.resolvedPath()) != nil else {
      throw StorageError(
        .unavailable,
        "the sealed folder has no index; check the path, or restore the folder from a backup",
        path: try index.resolvedPath())
    }
    let blobs = try place.blobIDs()
    var verification = FolderVerification(self, place, readsSegments: false)
    if try index.store.storeIdentity() != nil { try verification.run(nil) }
    try verification.addUnnamed(among: blobs)
    return verification.findings
  }

  /// The files beside the index, without a sweep.
  func unpreparedPlace() throws(StorageError) -> BlobPlace {
    BlobPlace(
      path: FilePath.folder(of: try index.resolvedPath()), trust: index.folderTrust)
  }
}

/// Goes through a sealed folder and collects what is wrong.
private struct FolderVerification {
  /// How often the index is read again while others keep writing.
  private static let looks = 100

  private let folder: SealedFolder
  private let place: BlobPlace
  private let readsSegments: Bool
  private(set) var findings: [SealedFolderReport.Finding] = []
  private var named: Set<BlobID> = []
  private var hasUnknown = false
  private var nameCount = 0
  private var blobCount = 0
  private var oldCount = 0
  private var byteCount = 0
  private var doneCount = 0

  init(_ folder: SealedFolder, _ place: BlobPlace, readsSegments: Bool = true) {
    self.folder = folder
    self.place = place
    self.readsSegments = readsSegments
  }

  mutating func run(_ progress: SealedFolder.Progress?) throws(StorageError) {
    let listing = try folder.index.listing()
    hasUnknown = listing.unreadable > 0
    var blobs: [(StoreKey, BlobEntry)] = []
    for name in listing.keys.sorted() {
      guard let entry = try entry(named: name) else { continue }
      nameCount += 1
      byteCount += entry.length
      guard let blob = entry.blob else {
        doneCount += entry.length
        continue
      }
      blobCount += 1
      named.insert(blob.id)
      if try !blob.isMarked(by: folder.index.store) { oldCount += 1 }
      blobs.append((name, blob))
    }
    for (name, blob) in blobs { try check(blob, name, progress) }
    progress?(byteCount, byteCount)
  }

  /// The entry of a name, or nil when it can't be read or is gone.
  private mutating func entry(named name: StoreKey) throws(StorageError) -> FileEntry? {
    do throws(StorageError) {
      return try folder.entry(named: name)
    } catch {
      guard error.isOfEntry else { throw error }
      hasUnknown = true
      add(.damagedEntry, name, nil, error.message)
      return nil
    }
  }

  private mutating func check(
    _ blob: BlobEntry, _ name: StoreKey, _ progress: SealedFolder.Progress?
  ) throws(StorageError) {
    defer { doneCount += blob.length }
    let reader: BlobReader?
    do throws(StorageError) {
      reader = try BlobReader(blob, in: place, store: folder.storeID(), under: nil)
    } catch {
      guard error.code == .damaged || error.code == .denied else { throw error }
      return add(
        error.code == .denied ? .deniedBlob : .otherBlob, name, place.file(of: blob.id),
        error.message)
    }
    guard let reader else {
      // Somebody may have replaced or removed it since the index was read.
      guard try entry(named: name)?.blob?.id == blob.id else { return }
      return add(
        .missingBlob, name, place.file(of: blob.id),
        "the file of the value is gone; put it back from a backup, or remove the name")
    }
    guard readsSegments else { return }
    let digest = try cryptography { () throws(CryptoError) in try StreamDigest() }
    let ranges = try damagedRanges(of: reader, digest, progress)
    guard !ranges.isEmpty else {
      do throws(StorageError) {
        try blob.require(digest, at: reader.path)
      } catch {
        guard error.code == .damaged else { throw error }
        add(.otherBlob, name, reader.path, error.message)
      }
      return
    }
    let lost = ranges.reduce(0) { $0 + $1.count }
    findings.append(
      .init(
        kind: .damagedBlob, name: name, path: reader.path, ranges: ranges,
        message: "\(lost) of \(blob.length) bytes do not authenticate; the others can be read"))
  }

  private func damagedRanges(
    of reader: BlobReader, _ digest: StreamDigest, _ progress: SealedFolder.Progress?
  ) throws(StorageError) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    try reader.withBuffers { (buffers) throws(StorageError) in
      for number in 0..<reader.segmentCount {
        try SealedFileReader.checkCancellation(nil)
        let bytes = reader.bytes(ofSegment: number)
        do throws(StorageError) {
          try reader.open(number, in: buffers, hashing: digest)
        } catch {
          // A disk that can't read a part reports `io`.
          guard error.code == .damaged || error.code == .io else { throw error }
          if let last = ranges.last, last.upperBound == bytes.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound..<bytes.upperBound
          } else {
            ranges.append(bytes)
          }
        }
        if number % 64 == 63 { progress?(doneCount + bytes.upperBound, byteCount) }
      }
    }
    return ranges
  }

  /// Blobs that no entry names, if all entries could be read.
  mutating func addUnnamed(among ids: [BlobID]) throws(StorageError) {
    guard !hasUnknown else { return }
    var left = ids.filter { !named.contains($0) && hasNoMarker($0) }
    // A blob that was renamed or written meanwhile has a name now; a blob whose name was removed
    // since has a marker, or is gone.
    guard !left.isEmpty, var now = try NamedBlobs(in: folder) else { return }
    for _ in 0..<Self.looks {
      guard try now.catchUp() else { return }
      left = left.filter { !now.mayName($0) && hasNoMarker($0) }
      if left.isEmpty || now.isStable { break }
    }
    for id in left.sorted(by: { $0.fileName < $1.fileName }) {
      add(
        .unnamedBlob, nil, place.file(of: id),
        "no name uses this file; repair can remove it")
    }
  }

  /// Whether a blob exists, and is neither being written or removed nor waiting for the next sweep.
  private func hasNoMarker(_ id: BlobID) -> Bool {
    // In this order: whoever removes a blob holds its marker until it is gone.
    // A blob that can't be looked at is not reported as unnamed.
    do throws(StorageError) {
      guard try !place.hasMarker(of: id) else { return false }
      return try place.hasFile(of: id)
    } catch {
      return false
    }
  }

  func report(_ index: VaultReport) throws(StorageError) -> SealedFolderReport {
    SealedFolderReport(
      index: index, nameCount: nameCount, blobCount: blobCount, byteCount: byteCount,
      oldBlobCount: oldCount, findings: findings)
  }

  private mutating func add(
    _ kind: SealedFolderReport.Finding.Kind, _ name: StoreKey?, _ path: String?, _ message: String
  ) {
    findings.append(.init(kind: kind, name: name, path: path, ranges: [], message: message))
  }
}
