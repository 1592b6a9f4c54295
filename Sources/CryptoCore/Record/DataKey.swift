public import struct FoundationEssentials.Data

/// A key that seals values into records and opens them again.
///
/// Any thread may use it.
///
/// The layout of a record is specified in docs/file-format.md. A data key does not count its seals:
/// its owner has to count them and replace the key in time, see `countsSeals` of its algorithm.
public final class DataKey: Sendable {
  /// The number with which records name their key.
  public let id: UInt32
  /// The algorithm with which the key seals.
  public var algorithm: AEADAlgorithm { key.algorithm }
  private let key: AEADKey
  private let nonces = NoncePool.page

  /// Makes a data key.
  ///
  /// - Parameters:
  ///   - key: 32 secret bytes.
  ///   - id: the number that goes into each record.
  ///   - algorithm: the cipher.
  /// - Throws: `CryptoError`: `invalidParameter` unless the key has 32 bytes.
  public init(
    _ key: SymmetricKey, id: UInt32, algorithm: AEADAlgorithm = .aes256GCM
  ) throws(CryptoError) {
    self.key = try AEADKey(key, algorithm: algorithm)
    self.id = id
  }

  /// How many bytes longer a record is than its plaintext.
  @inline(__always)
  public static func overhead(of algorithm: AEADAlgorithm) -> Int {
    RecordHeader.byteCount + algorithm.nonceSize + AEADAlgorithm.tagSize
  }

  /// Seals a plaintext into a buffer of the caller.
  ///
  /// - Parameters:
  ///   - plaintext: at most 2^31 - 33 bytes.
  ///   - context: the store, name and tag that the record is bound to.
  ///   - output: exactly `plaintext.byteCount + DataKey.overhead(of: algorithm)` bytes.
  /// - Throws: `CryptoError`: `invalidParameter` for wrong lengths, `library` for a failure of
  ///   OpenSSL; `output` is then unusable.
  public func seal(
    _ plaintext: RawSpan, for context: RecordContext, into output: inout MutableRawSpan
  ) throws(CryptoError) {
    guard output.byteCount == plaintext.byteCount + Self.overhead(of: algorithm) else {
      throw CryptoError(.invalidParameter, "the output has the wrong length for the record")
    }
    try unsafe plaintext.withUnsafeBytes { (plaintext) throws(CryptoError) in
      try unsafe output.withUnsafeMutableBytes { (output) throws(CryptoError) in
        try unsafe seal(plaintext, context, into: output.baseAddress!)
      }
    }
  }

  /// Seals a plaintext into a new array.
  ///
  /// - Throws: as ``seal(_:for:into:)``.
  public func seal(
    _ plaintext: RawSpan, for context: RecordContext
  ) throws(CryptoError) -> [UInt8] {
    let count = plaintext.byteCount + Self.overhead(of: algorithm)
    // Copying existing bytes into an array takes half the time of an array that is filled later.
    guard count > 512 else {
      return try unsafe plaintext.withUnsafeBytes { (plaintext) throws(CryptoError) in
        try unsafe withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) {
          (record) throws(CryptoError) in
          try unsafe seal(plaintext, context, into: record.baseAddress!)
          return unsafe [UInt8](record)
        }
      }
    }
    return try unsafe plaintext.withUnsafeBytes { (plaintext) throws(CryptoError) in
      // The array's own initialiser rethrows `any Error`.
      var failure: CryptoError?
      let record = unsafe [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
        do throws(CryptoError) {
          try unsafe seal(plaintext, context, into: UnsafeMutableRawPointer(output.baseAddress!))
          initialized = count
        } catch {
          failure = error
        }
      }
      if let failure { throw failure }
      return record
    }
  }

  /// Seals a plaintext into a new `Data`.
  ///
  /// - Throws: as ``seal(_:for:into:)``.
  public func sealedData(
    _ plaintext: RawSpan, for context: RecordContext
  ) throws(CryptoError) -> Data {
    let count = plaintext.byteCount + Self.overhead(of: algorithm)
    return try unsafe plaintext.withUnsafeBytes { (plaintext) throws(CryptoError) in
      try unsafe withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) {
        (record) throws(CryptoError) in
        try unsafe seal(plaintext, context, into: record.baseAddress!)
        return unsafe Data(copying: record.baseAddress!, count: count)
      }
    }
  }

  /// Opens a record into a buffer of the caller.
  ///
  /// - Parameters:
  ///   - record: a whole record.
  ///   - context: the store, name and tag that the record was bound to.
  ///   - output: exactly `record.byteCount - DataKey.overhead(of: algorithm)` bytes.
  /// - Throws: `CryptoError`: `malformed` or `unsupported` for a header that this key can't have
  ///   written, `authenticationFailed` when a byte of record or context differs from the sealed
  ///   one, `invalidParameter` for an output of the wrong length. `output` then holds zeroes or is
  ///   unchanged; it never holds plaintext.
  public func open(
    _ record: RawSpan, for context: RecordContext, into output: inout MutableRawSpan
  ) throws(CryptoError) {
    let header = try header(of: record)
    guard output.byteCount == record.byteCount - Self.overhead(of: algorithm) else {
      throw CryptoError(.invalidParameter, "the output has the wrong length for the record")
    }
    try unsafe output.withUnsafeMutableBytes { (output) throws(CryptoError) in
      try unsafe open(record, header, context, into: output)
    }
  }

  /// Opens a record into a new `Data`, which the caller should wipe.
  ///
  /// - Throws: as ``open(_:for:into:)``.
  public func openedData(
    _ record: RawSpan, for context: RecordContext
  ) throws(CryptoError) -> Data {
    let count = max(0, record.byteCount - Self.overhead(of: algorithm))
    return try unsafe withUnsafeTemporaryAllocation(byteCount: count + 1, alignment: 8) {
      (buffer) throws(CryptoError) in
      let output = unsafe UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
      defer { unsafe Wipe.buffer(output) }
      var span = unsafe MutableRawSpan(_unsafeBytes: output)
      try open(record, for: context, into: &span)
      return unsafe Data(copying: buffer.baseAddress!, count: count)
    }
  }

  /// Opens a record and lends the plaintext, which is wiped afterwards.
  ///
  /// Not generic, so that calls from other modules of the package need no generic metadata.
  ///
  /// - Throws: as ``open(_:for:into:)``.
  package func withOpened(
    _ record: RawSpan, for context: RecordContext, _ body: (RawSpan) -> Void
  ) throws(CryptoError) {
    let count = max(0, record.byteCount - Self.overhead(of: algorithm))
    guard count <= 256 else { return try withOpenedLong(record, count, for: context, body) }
    var short = InlineArray<256, UInt8>(repeating: 0)
    try unsafe withUnsafeMutableBytes(of: &short) { (buffer) throws(CryptoError) in
      let buffer = unsafe UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
      defer { unsafe Wipe.buffer(buffer) }
      var output = unsafe MutableRawSpan(_unsafeBytes: buffer)
      try open(record, for: context, into: &output)
      body(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(buffer)))
    }
  }

  @inline(never)
  private func withOpenedLong(
    _ record: RawSpan, _ count: Int, for context: RecordContext, _ body: (RawSpan) -> Void
  ) throws(CryptoError) {
    try unsafe withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) {
      (buffer) throws(CryptoError) in
      defer { unsafe Wipe.buffer(buffer) }
      var output = unsafe MutableRawSpan(_unsafeBytes: buffer)
      try open(record, for: context, into: &output)
      body(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(buffer)))
    }
  }

  // MARK: -

  @inline(__always)
  private func header(of record: RawSpan) throws(CryptoError) -> RecordHeader {
    let header = try RecordHeader(reading: record)
    guard header.keyID == id, header.algorithm == algorithm else {
      throw CryptoError(.malformed, "the record was sealed with another key")
    }
    return header
  }

  @inline(__always)
  private func seal(
    _ plaintext: UnsafeRawBufferPointer, _ context: RecordContext,
    into start: UnsafeMutableRawPointer
  ) throws(CryptoError) {
    let header = RecordHeader(algorithm: algorithm, keyID: id)
    let nonceSize = algorithm.nonceSize
    let nonce = unsafe start + RecordHeader.byteCount
    unsafe header.write(to: start)
    try unsafe NoncePool.fill(nonce, count: nonceSize, from: nonces)
    try unsafe context.withAssociatedData(header) { (associatedData) throws(CryptoError) in
      try unsafe key.seal(
        nonce: nonce, associatedData: associatedData, plaintext: plaintext,
        into: nonce + nonceSize)
    }
  }

  @inline(__always)
  private func open(
    _ record: RawSpan, _ header: RecordHeader, _ context: RecordContext,
    into output: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    // An empty buffer may have no address, so OpenSSL gets the address of a dummy byte instead.
    var none: UInt8 = 0
    try unsafe withUnsafeMutablePointer(to: &none) { (none) throws(CryptoError) in
      let target = unsafe output.baseAddress ?? UnsafeMutableRawPointer(none)
      try unsafe record.withUnsafeBytes { (record) throws(CryptoError) in
        let nonce = unsafe record.baseAddress! + RecordHeader.byteCount
        let text = unsafe nonce + algorithm.nonceSize
        try unsafe context.withAssociatedData(header) { (associatedData) throws(CryptoError) in
          try unsafe key.open(
            nonce: nonce, associatedData: associatedData,
            ciphertext: .init(start: text, count: output.count), tag: text + output.count,
            into: target)
        }
      }
    }
  }
}

extension Data {
  /// Copies bytes, a few nanoseconds faster than `init(bytes:count:)`.
  @inline(__always)
  fileprivate init(copying start: UnsafeMutableRawPointer, count: Int) {
    let bytes = unsafe start.assumingMemoryBound(to: UInt8.self)
    unsafe self.init(buffer: UnsafeBufferPointer(start: bytes, count: count))
  }
}
