internal import CryptoCore
internal import Glibc
internal import StorageCore

/// An open blob: its segments can be read in any order, even after the blob was replaced.
///
/// Any thread may use it, many at once.
final class BlobReader: Sendable {
  let entry: BlobEntry
  private let file: OpenFile
  private let opener: SegmentOpener
  /// The root key of the index when the blob was opened; nil for readers that compare the hash of
  /// the whole blob themselves.
  private let root: RootWatch?
  /// The hash of each segment, cut to ``hashSize``, once the whole file was hashed.
  private let hashes = Lock<[UInt8]?>(nil)
  /// Long enough that nobody finds another segment with the same hash; all hashes are in memory.
  private static let hashSize = 16
  /// The buffers of the last call, for the next one.
  private let spare = Lock<SegmentBuffers?>(nil)

  /// Opens the blob of an entry; nil when its file is not there.
  ///
  /// - Parameters:
  ///   - entry: where the blob is, and what opens it.
  ///   - place: where the blobs are.
  ///   - store: the id of the index.
  ///   - root: the root key of the index. If the entry lacks the mark of this key, the whole file
  ///     is hashed first, since somebody else may have the blob's key. If the root key is replaced
  ///     later, the file is hashed before the next segment is given out. Each segment is then
  ///     compared when it is read, too. Pass nil if you read all segments and compare the hash
  ///     yourself.
  /// - Throws: `StorageError`: `damaged` for a file that is not what the entry says, `denied` for a
  ///   file that is not ours.
  init?(
    _ entry: BlobEntry, in place: BlobPlace, store: StoreID, under root: RootWatch?
  ) throws(StorageError) {
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
    self.root = root
    self.entry = entry
    self.file = file
    if let root, try !entry.isMarked(under: root) { try hash() }
  }

  /// Hashes the whole file, compares it with the entry, and keeps the hash of each segment.
  @discardableResult
  private func hash() throws(StorageError) -> [UInt8] {
    let digest = try cryptography { () throws(CryptoError) in try StreamDigest() }
    var found: [UInt8] = []
    try file.forEachSegment(ofLength: entry.length) { (sealed) throws(StorageError) in
      try cryptography { () throws(CryptoError) in
        found += try digest.append(sealed).prefix(Self.hashSize)
      }
    }
    try entry.require(digest, at: file.path)
    let hashes = found
    self.hashes.withLock { $0 = hashes }
    return hashes
  }

  /// The hashes to compare with a segment that was just read; nil while the index has the same root
  /// key as when the blob was opened.
  ///
  /// Call it when the bytes are in memory: if the key is still the same then, the bytes are from
  /// before any replacement of the key.
  private func hashesToCompare() throws(StorageError) -> [UInt8]? {
    guard let root else { return nil }
    if let hashes = hashes.withLock({ $0 }) { return hashes }
    do throws(StorageError) {
      if try root.isCurrent() { return nil }
    } catch {
      // An index that can't be opened now does not stop a reader: the hash proves more than the
      // index.
    }
    return try hash()
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
  ///   - digest: takes the sealed segment, for callers that read all segments in order.
  /// - Throws: `StorageError`: `damaged`, or why the file can't be read.
  func open(
    segment number: Int, by buffer: PlainBuffer, into output: inout MutableRawSpan,
    hashing digest: StreamDigest? = nil
  ) throws(StorageError) {
    let count = bytes(ofSegment: number).count + SegmentLayout.tagSize
    let start = number * SegmentLayout.sealedSize
    let found = try buffer.write(0..<count) { (bytes) throws(StorageError) in
      try file.fill(&bytes, from: start)
    }
    guard found == count else { throw damaged(number, "it was cut while it was read") }
    let isLast = number == segmentCount - 1
    try buffer.read(0..<count) { (sealed) throws(StorageError) in
      try check(sealed, number, digest)
      do throws(CryptoError) {
        try opener.open(sealed, number: UInt64(number), isLast: isLast, into: &output)
      } catch {
        guard error.code == .authenticationFailed else { throw StorageError(error) }
        throw damaged(number, "its bytes were altered or moved, or belong to another file")
      }
    }
  }

  /// Opens a segment into the buffer for opened ones.
  func open(
    _ number: Int, in buffers: SegmentBuffers, hashing digest: StreamDigest? = nil
  ) throws(StorageError) {
    let count = bytes(ofSegment: number).count
    try buffers.plain.write(0..<count) { (output) throws(StorageError) in
      try open(segment: number, by: buffers.sealed, into: &output, hashing: digest)
    }
  }

  /// Lends all segments, opened, to `body`, and compares the hash of the same bytes that were
  /// opened.
  ///
  /// - Throws: what `body` throws, or `StorageError`: `damaged` also after the last segment, when
  ///   the blob is not the one that was sealed.
  func forEachSegment(
    _ body: (RawSpan) throws(StorageError) -> Void
  ) throws(StorageError) {
    let digest = try cryptography { () throws(CryptoError) in try StreamDigest() }
    try withBuffers { (buffers) throws(StorageError) in
      for number in 0..<segmentCount {
        try SealedFileReader.checkCancellation(nil)
        try open(number, in: buffers, hashing: digest)
        try buffers.plain.read(0..<bytes(ofSegment: number).count, body)
      }
    }
    try entry.require(digest, at: path)
  }

  /// Hashes a sealed segment, and refuses one that was changed since the whole file was hashed.
  private func check(
    _ sealed: RawSpan, _ number: Int, _ digest: StreamDigest?
  ) throws(StorageError) {
    let hashes = try hashesToCompare()
    guard digest != nil || hashes != nil else { return }
    let hash = try cryptography { () throws(CryptoError) in
      if let digest { return try digest.append(sealed) }
      return try StreamDigest().hash(of: sealed)
    }
    guard let hashes else { return }
    let known = hashes[number * Self.hashSize..<(number + 1) * Self.hashSize]
    guard known.elementsEqual(hash.prefix(Self.hashSize)) else {
      throw damaged(number, "its bytes were changed since the file was opened")
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

extension OpenFile {
  /// Lends the sealed segments of a blob to `body`, as they are in the file.
  borrowing func forEachSegment(
    ofLength length: Int, _ body: (RawSpan) throws(StorageError) -> Void
  ) throws(StorageError) {
    let buffer = PlainBuffer(count: SegmentLayout.sealedSize, isSecret: false)
    let size = SegmentLayout.fileSize(ofLength: length)
    for start in stride(from: 0, to: size, by: SegmentLayout.sealedSize) {
      try SealedFileReader.checkCancellation(nil)
      let range = 0..<min(SegmentLayout.sealedSize, size - start)
      let count = try buffer.write(range) { (bytes) throws(StorageError) in
        try fill(&bytes, from: start)
      }
      try buffer.read(0..<count, body)
    }
  }
}

extension BlobEntry {
  /// Refuses a blob with another hash.
  ///
  /// - Throws: `StorageError`: `damaged`.
  func require(_ found: StreamDigest, at path: String) throws(StorageError) {
    let hash = try cryptography { () throws(CryptoError) in try found.finish() }
    guard hash == digest else {
      throw StorageError(
        .damaged,
        "the file is not the one that the index describes: somebody who has its key changed it; put the "
          + "right file back from a backup", path: path)
    }
  }
}
