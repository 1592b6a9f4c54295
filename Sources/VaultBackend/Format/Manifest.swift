internal import CryptoCore
internal import StorageCore

/// What a vault holds, in figures that can't be made up: docs/file-format.md, section "Manifest".
///
/// Changed in the transaction that changes the records. That a record was removed, put back as it
/// was, or brought in from elsewhere shows in the sums, which nobody can compute without the keys.
struct Manifest: Hashable {
  static let version: UInt8 = 1
  /// Records are told apart by the first six bits of their name hashes.
  static let bucketCount = 64
  private static let tagSize = 32
  private static let bodySize = 1 + 8 + 8 + 32 + bucketCount * 12

  /// The records of one bucket.
  struct Bucket: Hashable {
    var count: UInt32 = 0
    var sum: UInt64 = 0
  }

  /// The sequence number of the last commit.
  var generation: UInt64 = 0
  private(set) var count: UInt64 = 0
  /// The sum over all records modulo 2^256, least significant word first.
  private var sum = SIMD4<UInt64>()
  private(set) var buckets = [Bucket](repeating: Bucket(), count: bucketCount)

  /// The manifest of an empty vault.
  init() {}

  /// Which bucket a name is in.
  static func bucket(of name: NameHash) -> Int {
    Int(UInt64(bigEndian: name.words[0]) >> 58)
  }

  /// Adds a record.
  mutating func add(
    _ record: [UInt8], _ name: NameHash, _ keys: ManifestKeys
  ) throws(StorageError) {
    let digest = try Self.digest(record, name, keys)
    var carry = false
    for index in 0..<4 {
      let (partial, first) = sum[index].addingReportingOverflow(Self.word(digest, index))
      let (whole, second) = partial.addingReportingOverflow(carry ? 1 : 0)
      sum[index] = whole
      carry = first || second
    }
    count &+= 1
    let bucket = Self.bucket(of: name)
    buckets[bucket].count &+= 1
    buckets[bucket].sum &+= UInt64(bigEndian: digest.words[4])
  }

  /// Takes a record away.
  mutating func remove(
    _ record: [UInt8], _ name: NameHash, _ keys: ManifestKeys
  ) throws(StorageError) {
    let digest = try Self.digest(record, name, keys)
    var borrow = false
    for index in 0..<4 {
      let (partial, first) = sum[index].subtractingReportingOverflow(Self.word(digest, index))
      let (whole, second) = partial.subtractingReportingOverflow(borrow ? 1 : 0)
      sum[index] = whole
      borrow = first || second
    }
    count &-= 1
    let bucket = Self.bucket(of: name)
    buckets[bucket].count &-= 1
    buckets[bucket].sum &-= UInt64(bigEndian: digest.words[4])
  }

  /// Word `index` of the number that the first 32 bytes of a digest are, counted from the least
  /// significant one.
  private static func word(_ digest: NameHash, _ index: Int) -> UInt64 {
    UInt64(bigEndian: digest.words[3 - index])
  }

  private static func digest(
    _ record: [UInt8], _ name: NameHash, _ keys: ManifestKeys
  ) throws(StorageError) -> NameHash {
    try cryptography { () throws(CryptoError) in
      try unsafe keys.records.hash(name, record.span.bytes)
    }
  }

  /// Whether two manifests tell of the same records.
  func agrees(with other: Manifest) -> Bool {
    count == other.count && sum == other.sum && buckets == other.buckets
  }

  // MARK: - Bytes

  /// The manifest with its tag.
  func bytes(_ keys: ManifestKeys) throws(StorageError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.bodySize + Self.tagSize)
    bytes.append(Self.version)
    bytes.append(bigEndian: generation)
    bytes.append(bigEndian: count)
    for index in 0..<4 { bytes.append(bigEndian: sum[3 - index]) }
    for bucket in buckets {
      bytes.append(bigEndian: bucket.count)
      bytes.append(bigEndian: bucket.sum)
    }
    return bytes + (try Self.tag(bytes, keys))
  }

  private static func tag(
    _ body: [UInt8], _ keys: ManifestKeys
  ) throws(StorageError) -> ArraySlice<UInt8> {
    let hash = try cryptography { () throws(CryptoError) in
      try unsafe keys.manifest.hash(body.span.bytes)
    }
    return hash.bytes.prefix(tagSize)
  }

  /// Reads a manifest.
  ///
  /// - Throws: `damaged` when its tag is not that of `keys`.
  init(reading bytes: [UInt8], _ keys: ManifestKeys) throws(StorageError) {
    guard bytes.count == Self.bodySize + Self.tagSize else { throw Self.altered }
    let body = Array(bytes.prefix(Self.bodySize))
    let tag = Array(bytes.suffix(Self.tagSize))
    let expected = Array(try Self.tag(body, keys))
    guard unsafe ConstantTime.equal(tag.span.bytes, expected.span.bytes) else {
      throw Self.altered
    }
    let span = unsafe body.span.bytes
    var offset = 0
    guard try ByteReading.integer(span, at: &offset, as: UInt8.self) == Self.version else {
      throw StorageError(.unsupported, "the manifest's version is not of this release")
    }
    generation = try ByteReading.integer(span, at: &offset)
    count = try ByteReading.integer(span, at: &offset)
    for index in 0..<4 { sum[3 - index] = try ByteReading.integer(span, at: &offset) }
    for index in buckets.indices {
      buckets[index].count = try ByteReading.integer(span, at: &offset)
      buckets[index].sum = try ByteReading.integer(span, at: &offset)
    }
  }

  private static let altered = StorageError(
    .damaged, "the manifest was altered, or is of other keys; verify the vault")
}
