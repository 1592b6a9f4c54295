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
    add(try RecordShare(of: record, name, keys), name)
  }

  /// Adds a record of which the share is known.
  mutating func add(_ share: RecordShare, _ name: NameHash) {
    change(share, name, mask: 0)
  }

  /// Takes a record away.
  mutating func remove(
    _ record: [UInt8], _ name: NameHash, _ keys: ManifestKeys
  ) throws(StorageError) {
    remove(try RecordShare(of: record, name, keys), name)
  }

  /// Takes a record away of which the share is known.
  mutating func remove(_ share: RecordShare, _ name: NameHash) {
    change(share, name, mask: .max)
  }

  /// To take a number away is to add its complement, which the mask makes of it, and one.
  private mutating func change(_ share: RecordShare, _ name: NameHash, mask: UInt64) {
    let bucket = Self.bucket(of: name)
    var carry = mask & 1
    for index in 0..<4 {
      let (partial, first) = sum[index].addingReportingOverflow(share.number[index] ^ mask)
      let (whole, second) = partial.addingReportingOverflow(carry)
      sum[index] = whole
      carry = first || second ? 1 : 0
    }
    count &+= mask | 1
    buckets[bucket].count &+= UInt32(truncatingIfNeeded: mask | 1)
    buckets[bucket].sum &+= (share.bucket ^ mask) &+ (mask & 1)
  }

  /// Whether two manifests tell of the same records.
  func agrees(with other: Manifest) -> Bool {
    count == other.count && sum == other.sum && buckets == other.buckets
  }

  // MARK: - Bytes

  /// The manifest with its seal.
  func bytes(_ keys: ManifestKeys) throws(StorageError) -> [UInt8] {
    // All at once: a part of every commit, and appending 130 numbers takes longer than a seal.
    let size = Self.bodySize + AuthenticationKey.sealSize
    var failure: CryptoError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { (buffer, count) in
      func put(_ value: some FixedWidthInteger & BitwiseCopyable) {
        unsafe UnsafeMutableRawBufferPointer(buffer).storeBytes(
          of: value.bigEndian, toByteOffset: count, as: type(of: value))
        count += MemoryLayout.size(ofValue: value)
      }
      put(Self.version)
      put(generation)
      put(self.count)
      for index in 0..<4 { put(sum[3 - index]) }
      for bucket in buckets {
        put(bucket.count)
        put(bucket.sum)
      }
      let start = UnsafeMutableRawPointer(buffer.baseAddress!)
      let body = unsafe RawSpan(_unsafeStart: start, byteCount: count)
      var seal = unsafe MutableRawSpan(_unsafeStart: start + count, byteCount: size - count)
      do throws(CryptoError) {
        try keys.manifest.seal(of: body, into: &seal)
        count = size
      } catch {
        failure = error
      }
    }
    return try cryptography { () throws(CryptoError) in
      if let failure { throw failure }
      return bytes
    }
  }

  /// Reads a manifest.
  ///
  /// - Throws: `damaged` when its seal is not of `keys`.
  init(reading bytes: [UInt8], _ keys: ManifestKeys) throws(StorageError) {
    guard bytes.count == Self.bodySize + AuthenticationKey.sealSize else { throw Self.altered }
    let span = unsafe bytes.span.bytes
    do throws(CryptoError) {
      try keys.manifest.check(
        span.extracting(Self.bodySize...), of: span.extracting(..<Self.bodySize))
    } catch {
      guard error.code == .authenticationFailed else { throw StorageError(error) }
      throw Self.altered
    }
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
