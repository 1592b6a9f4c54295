internal import CryptoCore
internal import StorageCore

extension Manifest {
  /// The version of the format.
  static let version: UInt8 = 1
  /// The length in bytes of the figures.
  static let bodySize = 8 + 2 * (8 + 32) + bucketCount * 16
  /// The length in bytes of a manifest.
  static let size = 1 + bodySize + SealingKey.overhead

  /// The manifest, sealed.
  func bytes(_ keys: ManifestKeys) throws(StorageError) -> [UInt8] {
    var failure: CryptoError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.size) { (buffer, count) in
      unsafe buffer[0] = Self.version
      let start = UnsafeMutableRawPointer(buffer.baseAddress!)
      let head = unsafe RawSpan(_unsafeStart: start, byteCount: 1)
      var sealed = unsafe MutableRawSpan(_unsafeStart: start + 1, byteCount: Self.size - 1)
      do throws(CryptoError) {
        try unsafe withUnsafeTemporaryAllocation(byteCount: Self.bodySize, alignment: 8) {
          (body) throws(CryptoError) in
          unsafe writeBody(to: body)
          try keys.manifest.seal(
            unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(body)), authenticating: head,
            into: &sealed)
        }
        count = Self.size
      } catch {
        failure = error
      }
    }
    if let failure { throw StorageError(failure) }
    return bytes
  }

  /// A keyed hash of these figures, which reveals nothing about them without the keys.
  func digest(_ keys: ManifestKeys) throws(StorageError) -> NameHash {
    let body = unsafe [UInt8](unsafeUninitializedCapacity: Self.bodySize) { (buffer, count) in
      unsafe writeBody(to: UnsafeMutableRawBufferPointer(buffer))
      count = Self.bodySize
    }
    return try cryptography { () throws(CryptoError) in
      try unsafe keys.removals.hash(body.span.bytes)
    }
  }

  // Written in one buffer, since this is part of every commit, and appending 200 numbers takes
  // longer than a seal.
  private func writeBody(to buffer: UnsafeMutableRawBufferPointer) {
    var offset = 0
    func put(_ value: some FixedWidthInteger & BitwiseCopyable) {
      unsafe buffer.storeBytes(
        of: value.bigEndian, toByteOffset: offset, as: type(of: value))
      offset += MemoryLayout.size(ofValue: value)
    }
    put(generation)
    put(records.count)
    for index in 0..<4 { put(records.sum[3 - index]) }
    put(removals.count)
    for index in 0..<4 { put(removals.sum[3 - index]) }
    for bucket in buckets {
      put(bucket.count)
      put(bucket.sum)
      put(bucket.removals)
    }
  }

  /// The manifest that a connection sees, or nil when it was altered.
  ///
  /// - Throws: `StorageError` when it can't be read: that does not mean that it was altered.
  static func stored(
    in connection: Connection, _ keys: ManifestKeys
  ) throws(StorageError) -> Manifest? {
    let bytes = try VaultRows.manifest(connection)
    do throws(StorageError) {
      return try Manifest(reading: bytes, keys)
    } catch {
      guard error.code == .damaged else { throw error }
      return nil
    }
  }

  /// The number of records at the last write, or nil when the manifest is damaged.
  static func count(
    in connection: Connection, _ keys: ManifestKeys
  ) throws(StorageError) -> Int? {
    do throws(StorageError) {
      guard let manifest = try stored(in: connection, keys) else { return nil }
      // No file holds more records: somebody who once had the keys made the number up.
      return manifest.count < 1 << 40 ? Int(manifest.count) : nil
    } catch {
      guard error.code == .damaged else { throw error }
      return nil
    }
  }

  /// Reads a manifest.
  ///
  /// - Throws: `damaged` when it was not sealed under `keys`.
  init(reading bytes: [UInt8], _ keys: ManifestKeys) throws(StorageError) {
    guard bytes.count == Self.size, bytes[0] == Self.version else { throw Self.altered }
    var body = [UInt8](repeating: 0, count: Self.bodySize)
    do throws(CryptoError) {
      let span = unsafe bytes.span.bytes
      var figures = body.mutableSpan
      var output = unsafe figures.mutableBytes
      try keys.manifest.open(
        span.extracting(1...), authenticating: span.extracting(..<1), into: &output)
    } catch {
      guard error.code == .authenticationFailed else { throw StorageError(error) }
      throw Self.altered
    }
    var offset = 0
    let span = unsafe body.span.bytes
    let generation = try ByteReading.integer(span, at: &offset, as: UInt64.self)
    guard generation < UInt64(VaultRows.sequenceLimit) else { throw Self.altered }
    let records = try Tally(reading: span, at: &offset)
    let removals = try Tally(reading: span, at: &offset)
    var buckets = [Bucket](repeating: Bucket(), count: Self.bucketCount)
    for index in buckets.indices {
      buckets[index].count = try ByteReading.integer(span, at: &offset)
      buckets[index].sum = try ByteReading.integer(span, at: &offset)
      buckets[index].removals = try ByteReading.integer(span, at: &offset)
    }
    self.init(generation: generation, records: records, removals: removals, buckets: buckets)
  }

  private static let altered = StorageError(
    .damaged, "the manifest was altered, or belongs to other keys; verify the vault")
}

extension Manifest.Tally {
  fileprivate init(reading span: RawSpan, at offset: inout Int) throws(StorageError) {
    count = try ByteReading.integer(span, at: &offset)
    for index in 0..<4 { sum[3 - index] = try ByteReading.integer(span, at: &offset) }
  }
}
