internal import StorageCore

/// Writes a message of protocol buffers, field by field.
struct ProtobufWriter {
  private(set) var bytes: [UInt8] = []

  /// A number, a Boolean or a value of an enumeration; 0 is left out, as the format does.
  mutating func add(_ field: Int, _ value: UInt64) {
    guard value != 0 else { return }
    addOneOf(field, value)
  }

  /// A number that is one of several fields of which one is there; 0 is not left out.
  mutating func addOneOf(_ field: Int, _ value: UInt64) {
    varint(UInt64(field) << 3)
    varint(value)
  }

  /// Bytes, text in UTF-8, or another message.
  mutating func add(_ field: Int, _ value: some Collection<UInt8>) {
    varint(UInt64(field) << 3 | 2)
    varint(UInt64(value.count))
    bytes += value
  }

  private mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}

/// Reads a message of protocol buffers, field by field.
struct ProtobufReader {
  private var rest: ArraySlice<UInt8>

  init(_ message: ArraySlice<UInt8>) { rest = message }

  /// The value of a field.
  enum Value {
    case number(UInt64)
    case bytes(ArraySlice<UInt8>)

    /// The number; 0 if it is none.
    var number: UInt64 {
      if case .number(let number) = self { return number }
      return 0
    }

    /// A revision of etcd, which counts as `int64` from 1 on; 0 if it is none.
    ///
    /// - Throws: `damaged` for a negative one, which no etcd sends.
    var revision: UInt64 {
      get throws(StorageError) {
        guard number <= Int64.max else { throw ProtobufReader.damaged }
        return number
      }
    }

    /// The bytes; empty if there are none.
    var bytes: ArraySlice<UInt8> {
      if case .bytes(let bytes) = self { return bytes }
      return []
    }
  }

  /// The next field and its value; nil at the end.
  ///
  /// - Throws: `damaged` for bytes that are no message.
  mutating func next() throws(StorageError) -> (field: UInt64, value: Value)? {
    guard !rest.isEmpty else { return nil }
    let tag = try varint()
    switch tag & 7 {
    case 0: return (tag >> 3, .number(try varint()))
    case 1: return (tag >> 3, .bytes(try take(8)))
    case 2: return (tag >> 3, .bytes(try take(varint())))
    case 5: return (tag >> 3, .bytes(try take(4)))
    default: throw Self.damaged
    }
  }

  private mutating func take(_ count: UInt64) throws(StorageError) -> ArraySlice<UInt8> {
    guard count <= rest.count else { throw Self.damaged }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }

  private mutating func varint() throws(StorageError) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard let byte = rest.popFirst() else { throw Self.damaged }
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
    }
    throw Self.damaged
  }

  fileprivate static var damaged: StorageError {
    StorageError(.damaged, "the answer is no message of etcd; check that the endpoint is etcd's")
  }
}
