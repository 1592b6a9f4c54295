internal import CryptoCore
internal import Glibc
internal import StorageCore

internal import struct FoundationEssentials.Data

/// Seals a value as it arrives, in constant memory, into a blob that has no name yet.
///
/// A value that turns out small gets no blob. In a child of fork(2) every call is an error, and
/// nothing is cleaned up: blob, key and marker belong to the parent, which goes on with them. For
/// one thread at a time.
final class BlobWriter: @unchecked Sendable {
  // Only the owner of the writer uses the state, and hands it from thread to thread.
  /// How many sealed segments are written at once.
  private static let batch = 4

  private let place: BlobPlace
  private let algorithm: AEADAlgorithm
  private let index: SealedStore
  let store: StoreID
  private let process = OwnProcess()
  /// The segment that is not sealed yet: it may be the last one until more bytes arrive.
  private let plain = PlainBuffer(count: SegmentLayout.segmentSize)
  private var plainCount = 0
  private var sealed: SealedFile?
  /// The bytes that were given so far.
  private(set) var length = 0

  init(in place: BlobPlace, of index: SealedStore, _ store: StoreID, _ algorithm: AEADAlgorithm) {
    self.place = place
    self.algorithm = algorithm
    self.index = index
    self.store = store
  }

  /// The blob, once there is one.
  var blobID: BlobID? { sealed?.id }

  /// Takes more bytes.
  ///
  /// - Throws: `StorageError`: `full` and the like; the writer is of no use then.
  func append(_ bytes: RawSpan) throws(StorageError) {
    try requireOwn()
    guard bytes.byteCount <= SegmentLayout.valueLimit - length else {
      throw StorageError(.invalid, "a value has at most 2^44 bytes")
    }
    length += bytes.byteCount
    let size = SegmentLayout.segmentSize
    var offset = 0
    while offset < bytes.byteCount {
      let rest = bytes.byteCount - offset
      if plainCount == size {
        try sealPlain(isLast: false)
      } else if plainCount == 0, rest > size {
        try file().seal(bytes.extracting(offset..<offset + size), isLast: false)
        offset += size
      } else {
        let count = min(size - plainCount, rest)
        plain.copy(bytes.extracting(offset..<offset + count), to: plainCount)
        plainCount += count
        offset += count
      }
    }
  }

  /// Ends the value, and makes its blob durable.
  ///
  /// - Returns: the entry for the index.
  /// - Throws: `StorageError`; the writer is of no use then.
  func finish() throws(StorageError) -> FileEntry {
    try requireOwn()
    guard length > SegmentLayout.entryLimit else {
      return plain.read(0..<plainCount) { value in
        .small(unsafe value.withUnsafeBytes { unsafe Data($0) })
      }
    }
    try sealPlain(isLast: true)
    let file = try file()
    let (tag, digest) = try file.finish()
    return .blob(
      try BlobEntry.marked(
        algorithm: algorithm, length: length, id: file.id, key: file.key, lastTag: tag,
        digest: digest, by: index))
  }

  /// Refuses to go on in a child of fork(2).
  func requireOwn() throws(StorageError) { try process.require("the writer") }

  /// Refuses a blob whose file was exchanged after it was sealed, before the index names it.
  ///
  /// - Throws: `StorageError`: `io` when the file was removed or replaced.
  func requireInPlace() throws(StorageError) {
    try requireOwn()
    guard let sealed, try !sealed.isInPlace() else { return }
    throw StorageError(
      .io,
      "another program removed or replaced the value's new file before it was finished; write the value "
        + "again", path: place.file(of: sealed.id))
  }

  /// Removes the blob, unless it was finished before.
  func abandon() {
    if process.isCurrent { sealed?.abandon() }
    sealed = nil
  }

  /// Keeps the blob and forgets it; ends the marker if `isNamed` says that the index names the
  /// blob.
  func finish(if isNamed: () throws(StorageError) -> Bool) {
    if process.isCurrent { sealed?.marker.end(if: isNamed) }
    sealed = nil
  }

  /// Leaves blob and marker for the next sweep, which finds out if the index names it.
  func leave() { sealed = nil }

  deinit { abandon() }

  private func sealPlain(isLast: Bool) throws(StorageError) {
    let file = try file()
    try plain.read(0..<plainCount) { (bytes) throws(StorageError) in
      try file.seal(bytes, isLast: isLast)
    }
    plainCount = 0
  }

  private func file() throws(StorageError) -> SealedFile {
    if let sealed { return sealed }
    let file = try SealedFile(in: place, store, algorithm, batch: Self.batch)
    sealed = file
    return file
  }

  /// The blob's file, which is made with the first segment.
  private final class SealedFile {
    let id: BlobID
    let marker: PendingMarker
    var key: SymmetricKey { sealer.key }
    private let place: BlobPlace
    private let file: OpenFile
    private let sealer: SegmentSealer
    private let hashing: SegmentHashing
    private let capacity: Int
    private var count = 0

    init(
      in place: BlobPlace, _ store: StoreID, _ algorithm: AEADAlgorithm, batch: Int
    ) throws(StorageError) {
      let id = try BlobID.random()
      capacity = batch * SegmentLayout.sealedSize
      hashing = try SegmentHashing(batch: capacity)
      sealer = try cryptography { () throws(CryptoError) in
        try SegmentSealer(
          algorithm, associatedData: SegmentLayout.associatedData(store: store, blob: id))
      }
      try place.create()
      let marker = try PendingMarker.share(id, in: place)
      do throws(StorageError) {
        file = try place.make(id)
      } catch {
        marker.end { true }
        throw error
      }
      self.id = id
      self.marker = marker
      self.place = place
    }

    func seal(_ bytes: RawSpan, isLast: Bool) throws(StorageError) {
      let size = bytes.byteCount + SegmentLayout.tagSize
      if count + size > capacity {
        try flush(isLast: false)
        hashing.next()
      }
      try hashing.batch.write(count..<count + size) { (output) throws(StorageError) in
        try cryptography { () throws(CryptoError) in
          try sealer.seal(bytes, isLast: isLast, into: &output)
        }
      }
      count += size
    }

    /// - Returns: the tag of the last segment, and the hash of all.
    func finish() throws(StorageError) -> (tag: [UInt8], digest: [UInt8]) {
      let tag = hashing.batch.read(count - SegmentLayout.tagSize..<count) { $0.copied() }
      try flush(isLast: true)
      do throws(StorageError) {
        try file.synchronize()
      } catch {
        // Nobody knows the file yet, so nothing was changed.
        guard error.code == .outcomeUnknown else { throw error }
        throw StorageError(.io, error.message, path: error.path, number: error.number)
      }
      return (tag, try hashing.finish())
    }

    func isInPlace() throws(StorageError) -> Bool { try file.isInPlace() }

    func abandon() {
      marker.end { () throws(StorageError) in
        try place.remove(id)
        return true
      }
    }

    private func flush(isLast: Bool) throws(StorageError) {
      hashing.hash(count, isLast: isLast)
      try hashing.batch.read(0..<count) { (bytes) throws(StorageError) in try file.write(bytes) }
      count = 0
    }
  }
}
