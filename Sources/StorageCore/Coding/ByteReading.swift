/// Bounds-checked reading of untrusted bytes: each call moves `offset` past what it read.
package enum ByteReading {
  /// An integer, most significant byte first.
  @inline(__always)
  package static func integer<Value: FixedWidthInteger & BitwiseCopyable>(
    _ bytes: RawSpan, at offset: inout Int, as _: Value.Type = Value.self
  ) throws(StorageError) -> Value {
    let size = MemoryLayout<Value>.size
    guard bytes.byteCount - offset >= size else { throw cutShort }
    // Safe: any bytes are a valid integer, and the range was checked.
    let value = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self)
    offset += size
    return Value(bigEndian: value)
  }

  /// The range of the next `count` bytes.
  @inline(__always)
  package static func range(
    of count: Int, _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Range<Int> {
    guard count >= 0, bytes.byteCount - offset >= count else { throw cutShort }
    defer { offset += count }
    return offset..<offset + count
  }

  /// A copy of the next `count` bytes.
  package static func array(
    of count: Int, _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> [UInt8] {
    let range = try range(of: count, bytes, at: &offset)
    return bytes.extracting(range).copied()
  }

  /// A copy of the next field, which follows its 32-bit length and has at most `limit` bytes.
  package static func field(
    limit: Int, _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> [UInt8] {
    let count = Int(try integer(bytes, at: &offset, as: UInt32.self))
    guard count <= limit else { throw StorageError(.damaged, "a field is longer than its limit") }
    return try array(of: count, bytes, at: &offset)
  }

  /// The error for reading past the end.
  package static var cutShort: StorageError { StorageError(.damaged, "the bytes are cut short") }
}

extension RawSpan {
  /// An array of the bytes.
  package func copied() -> [UInt8] {
    unsafe withUnsafeBytes { unsafe [UInt8]($0) }
  }
}
