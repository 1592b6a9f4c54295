internal import CryptoCore

/// A value with a compact binary form of its own.
///
/// These are the standard scalar types, `String`, `Data`, `Date`, `URL`, `UUID`, `Decimal`, and
/// optionals, arrays, sets and dictionaries of them. docs/file-format.md specifies the forms. To
/// store another type, make it `Codable`. Don't conform to this protocol outside the package, since
/// each type needs a tag.
public protocol StorableValue {
  /// The type as stored in the payload.
  static var valueType: ValueType { get }

  /// Appends the value's bytes, without its type.
  ///
  /// - Throws: `StorageError` with `invalid` when the value is too large.
  func append(to bytes: inout [UInt8]) throws(StorageError)

  /// Reads a value and moves `offset` past it.
  ///
  /// - Throws: `StorageError` with `damaged` when the bytes are not a value in its one legal form.
  static func read(_ bytes: RawSpan, at offset: inout Int) throws(StorageError) -> Self
}

extension StorableValue where Self: FixedWidthInteger & BitwiseCopyable {
  /// Appends the bytes, most significant first.
  @inline(__always)
  public func append(to bytes: inout [UInt8]) throws(StorageError) {
    bytes.appendWiping(bigEndian: self)
  }

  /// Reads the bytes, most significant first.
  @inline(__always)
  public static func read(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Self {
    try ByteReading.integer(bytes, at: &offset)
  }
}

extension Int: StorableValue {
  /// `Int`, 8 bytes.
  public static let valueType = ValueType(.int)
}
extension Int8: StorableValue {
  /// `Int8`.
  public static let valueType = ValueType(.int8)
}
extension Int16: StorableValue {
  /// `Int16`.
  public static let valueType = ValueType(.int16)
}
extension Int32: StorableValue {
  /// `Int32`.
  public static let valueType = ValueType(.int32)
}
extension Int64: StorableValue {
  /// `Int64`.
  public static let valueType = ValueType(.int64)
}
extension UInt: StorableValue {
  /// `UInt`, 8 bytes.
  public static let valueType = ValueType(.uint)
}
extension UInt8: StorableValue {
  /// `UInt8`.
  public static let valueType = ValueType(.uint8)
}
extension UInt16: StorableValue {
  /// `UInt16`.
  public static let valueType = ValueType(.uint16)
}
extension UInt32: StorableValue {
  /// `UInt32`.
  public static let valueType = ValueType(.uint32)
}
extension UInt64: StorableValue {
  /// `UInt64`.
  public static let valueType = ValueType(.uint64)
}

extension Bool: StorableValue {
  /// `Bool`: one byte, 0 or 1.
  public static let valueType = ValueType(.bool)

  /// Appends 0 or 1.
  public func append(to bytes: inout [UInt8]) throws(StorageError) {
    bytes.appendWiping(self ? 1 : 0)
  }

  /// Reads 0 or 1.
  public static func read(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Bool {
    switch try ByteReading.integer(bytes, at: &offset, as: UInt8.self) {
    case 0: return false
    case 1: return true
    default: throw StorageError(.damaged, "a Bool is neither 0 nor 1")
    }
  }
}

extension Double: StorableValue {
  /// `Double`: its 64 bits; NaN payloads and the sign of zero are kept.
  public static let valueType = ValueType(.double)

  /// Appends the bit pattern.
  public func append(to bytes: inout [UInt8]) throws(StorageError) {
    bytes.appendWiping(bigEndian: bitPattern)
  }

  /// Reads the bit pattern.
  public static func read(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Double {
    Double(bitPattern: try ByteReading.integer(bytes, at: &offset))
  }
}

extension Float: StorableValue {
  /// `Float`: its 32 bits; NaN payloads and the sign of zero are kept.
  public static let valueType = ValueType(.float)

  /// Appends the bit pattern.
  public func append(to bytes: inout [UInt8]) throws(StorageError) {
    bytes.appendWiping(bigEndian: bitPattern)
  }

  /// Reads the bit pattern.
  public static func read(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Float {
    Float(bitPattern: try ByteReading.integer(bytes, at: &offset))
  }
}

extension String: StorableValue {
  /// `String`: the count followed by the UTF-8 bytes.
  ///
  /// The text is not normalised.
  public static let valueType = ValueType(.string)

  /// Appends the count and the UTF-8 bytes.
  @inline(__always)
  public func append(to bytes: inout [UInt8]) throws(StorageError) {
    let count = utf8.count
    guard count <= Payload.valueLimit else { throw Payload.tooLarge }
    bytes.makeRoom(for: 4 + count)
    bytes.append(bigEndian: UInt32(count))
    bytes.append(utf8Of: self)
  }

  /// Reads the count and the UTF-8 bytes.
  @inline(__always)
  public static func read(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> String {
    let count = Int(try ByteReading.integer(bytes, at: &offset, as: UInt32.self))
    let range = try ByteReading.range(of: count, bytes, at: &offset)
    return try unsafe bytes.extracting(range).withUnsafeBytes { (buffer) throws(StorageError) in
      do throws(UTF8.ValidationError) {
        // Takes a third of the time of String(validating:as:), which reads byte by byte.
        return String(copying: try UTF8Span(validating: unsafe Span(_unsafeBytes: buffer)))
      } catch {
        throw StorageError(.damaged, "a String is not UTF-8")
      }
    }
  }
}

extension [UInt8] {
  /// Appends the UTF-8 bytes of a text, many times faster than `append(contentsOf: text.utf8)`.
  @inline(__always)
  mutating func append(utf8Of text: String) {
    let isContiguous: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { utf8 in
      unsafe append(contentsOf: utf8)
    }
    if isContiguous == nil { append(contentsOf: text.utf8) }
  }

  /// Appends the count as 32 bits, then the bytes.
  @inline(__always)
  mutating func appendCounted(_ bytes: some Collection<UInt8>) throws(StorageError) {
    guard bytes.count <= Payload.valueLimit else { throw Payload.tooLarge }
    makeRoom(for: 4 + bytes.count)
    append(bigEndian: UInt32(bytes.count))
    append(contentsOf: bytes)
  }
}

extension Payload {
  static let tooLarge = StorageError(
    .invalid,
    "the value is larger than \(valueLimit >> 20) MiB; store it with @SealedFile or in a "
      + "SealedFolder")
}
