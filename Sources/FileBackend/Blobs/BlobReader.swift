internal import CryptoCore
internal import Glibc
internal import StorageCore

/// An open blob: its segments can be read in any order, also after the blob was replaced.
///
/// Any thread may use it, many at once.
final class BlobReader: Sendable {
  let entry: BlobEntry
  private let file: OpenFile
  private let opener: SegmentOpener
  /// The buffers of the last call, for the next one.
  private let spare = Lock<SegmentBuffers?>(nil)

  /// Opens the blob of an entry.
  ///
  /// - Returns: nil when its file is not there.
  /// - Throws: `StorageError`: `damaged` for a file that is not what the entry says, `denied` for what
  ///   is no file of ours.
  init?(_ entry: BlobEntry, in place: BlobPlace, store: StoreID) throws(StorageError) {
    guard let file = try place.open(entry.id) else { return nil }
    let size = try file.status().size
    guard size == SegmentLayout.fileSize(ofLength: entry.length) else {
      throw StorageError(
        .damaged,
        "the file has \(size) bytes and should have "
          + "\(SegmentLayout.fileSize(ofLength: entry.length)): it was cut, or bytes were added; put "
          + "it back from a backup", path: file.path)
    }
    let tag = try file.readLast(SegmentLayout.tagSize)
    guard unsafe ConstantTime.equal(tag.span.bytes, entry.lastTag.span.bytes) else {
      throw StorageError(
        .damaged,
        "the file is not the one that the index describes: it was replaced; put the right file back "
          + "from a backup", path: file.path)
    }
    opener = try cryptography { () throws(CryptoError) in
      try SegmentOpener(
        entry.algorithm, key: entry.key, associatedData: entry.associatedData(in: store))
    }
    self.entry = entry
    self.file = file
  }

  var path: String { file.path }

  var segmentCount: Int { SegmentLayout.count(ofLength: entry.length) }

  /// Where the bytes of a segment are in the value.
  func bytes(ofSegment number: Int) -> Range<Int> {
    let start = number * SegmentLayout.segmentSize
    return start..<min(start + SegmentLayout.segmentSize, entry.length)
  }

  /// Lends buffers to `body`: those of an earlier call, or new ones while they are lent.
  func withBuffers<Result, Failure: Error>(
    _ body: (SegmentBuffers) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let known = spare.withLock { spare in
      defer { spare = nil }
      return spare
    }
    let buffers = known ?? SegmentBuffers()
    defer { spare.withLock { $0 = buffers } }
    return try body(buffers)
  }

  /// Opens a segment.
  ///
  /// - Parameters:
  ///   - number: the number of the segment.
  ///   - buffer: ``SegmentLayout/sealedSize`` bytes for what is read.
  ///   - output: as many bytes as the segment has; zero when this throws.
  /// - Throws: `StorageError`: `damaged`, or why the file can't be read.
  func open(
    segment number: Int, by buffer: PlainBuffer, into output: inout MutableRawSpan
  ) throws(StorageError) {
    let count = bytes(ofSegment: number).count + SegmentLayout.tagSize
    let start = number * SegmentLayout.sealedSize
    let found = try buffer.write(0..<count) { (bytes) throws(StorageError) in
      try file.fill(&bytes, from: start)
    }
    guard found == count else { throw damaged(number, "it was cut while it was read") }
    let isLast = number == segmentCount - 1
    try buffer.read(0..<count) { (sealed) throws(StorageError) in
      do throws(CryptoError) {
        try opener.open(sealed, number: UInt64(number), isLast: isLast, into: &output)
      } catch {
        guard error.code == .authenticationFailed else { throw StorageError(error) }
        throw damaged(number, "its bytes were altered or moved, or belong to another file")
      }
    }
  }

  /// Opens a segment into the buffer for opened ones.
  func open(_ number: Int, in buffers: SegmentBuffers) throws(StorageError) {
    let count = bytes(ofSegment: number).count
    try buffers.plain.write(0..<count) { (output) throws(StorageError) in
      try open(segment: number, by: buffers.sealed, into: &output)
    }
  }

  private func damaged(_ number: Int, _ what: String) -> StorageError {
    let range = bytes(ofSegment: number)
    return StorageError(
      .damaged,
      "bytes \(range.lowerBound) to \(range.upperBound - 1) of the value do not authenticate: \(what). "
        + "The rest can be read; put the file back from a backup", path: path)
  }
}
