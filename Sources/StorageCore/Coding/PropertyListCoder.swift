internal import CryptoCore
package import FoundationEssentials

/// Binary property lists of any value, also of one that is not a container.
///
/// Foundation's encoder refuses a scalar; its decoder and every other reader accept one.
package enum PropertyListCoder {
  // Coders are Sendable and keep no state between calls.
  private static let decoder = PropertyListDecoder()
  private static let encoder: PropertyListEncoder = {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    return encoder
  }()

  /// The property list of a value.
  package static func encode(_ value: some Encodable) throws -> Data {
    do {
      return try encoder.encode(value)
    } catch let error as EncodingError {
      guard case .invalidValue(_, let context) = error, context.codingPath.isEmpty else {
        throw error
      }
      return try scalar(value, error)
    }
  }

  /// The value of a property list.
  package static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
  {
    try decoder.decode(type, from: data)
  }

  private static func scalar(_ value: some Encodable, _ error: EncodingError) throws -> Data {
    var list = try encoder.encode([value])
    defer { Wipe.data(&list) }
    // The decoder takes this text for nil: it is how the encoder writes nil.
    guard (value as? String) != nilText,
      (value as? any RawRepresentable<String>)?.rawValue != nilText,
      let scalar = onlyElement(of: list)
    else { throw error }
    return scalar
  }

  /// The property list of an array's only element; nil if the element has elements of its own.
  ///
  /// A binary property list is 8 bytes of header, the objects, the offset of each object, and a
  /// trailer of 32 bytes. The array is the first of two objects: its type and its count in one
  /// byte, then the number of its element.
  private static func onlyElement(of list: Data) -> Data? {
    let bytes = unsafe list.span.bytes
    let start = 10
    var trailer = bytes.byteCount - 32 + 8
    guard trailer > start, bytes.extracting(8..<start).copied() == [0xA1, 1],
      let count = next(bytes, &trailer), let top = next(bytes, &trailer),
      let end = next(bytes, &trailer), count == 2, top == 0,
      end > start, end < bytes.byteCount
    else { return nil }
    let element = bytes.extracting(start..<end)
    let table = UInt64(8 + element.byteCount)
    // Readers refuse offsets too short for the table's own.
    let offsetSize: Int = [1, 2, 4].first { table < (1 as UInt64) << UInt64(8 * $0) } ?? 8
    var scalar = Data(capacity: 8 + element.byteCount + offsetSize + 32)
    scalar.append(contentsOf: "bplist00".utf8)
    unsafe element.withUnsafeBytes { unsafe scalar.append(contentsOf: $0) }
    // The table: the element is at 8. The trailer: the sizes of an offset and of a number; one
    // object, which is the top; where the table is.
    scalar.append(contentsOf: [UInt8](repeating: 0, count: offsetSize - 1) + [8])
    scalar.append(contentsOf: [0, 0, 0, 0, 0, 0, UInt8(offsetSize), 1])
    for number in [1, 0, table] {
      unsafe withUnsafeBytes(of: number.bigEndian) { unsafe scalar.append(contentsOf: $0) }
    }
    return scalar
  }

  private static func next(_ bytes: RawSpan, _ offset: inout Int) -> Int? {
    do {
      return Int(exactly: try ByteReading.integer(bytes, at: &offset, as: UInt64.self))
    } catch {
      return nil
    }
  }

  private static let nilText = "$null"
}
