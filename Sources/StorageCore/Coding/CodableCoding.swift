internal import CryptoCore
public import FoundationEssentials

/// Encodes `Codable` values as bytes, and decodes them.
public struct CodableCoding: Sendable {
  let type: ValueType
  /// Tells custom codings apart; empty for the other codings.
  let name: String
  private var isJSON: Bool { type.tag == .json }
  package let encode: @Sendable (any Encodable) throws -> Data
  package let decode: @Sendable (any Decodable.Type, Data) throws -> any Decodable

  /// JSON, made by Foundation's encoder with its defaults: a NaN or an infinity is the error
  /// `invalid`.
  public static let json = CodableCoding(
    type: ValueType(.json), name: "",
    encode: { try jsonEncoder.encode($0) }, decode: { try jsonDecoder.decode($0, from: $1) })

  /// A binary property list, made by Foundation's encoder; a scalar is a property list of its own.
  public static let propertyList = CodableCoding(
    type: ValueType(.propertyList), name: "",
    encode: { try PropertyListCoder.encode($0) },
    decode: { try PropertyListCoder.decode($0, from: $1) })

  /// A coding that the application implements.
  ///
  /// - Parameters:
  ///   - name: at most 255 bytes, stored with each value. Only a coding with the same name decodes
  ///     the value.
  ///   - encode: turns a value into bytes.
  ///   - decode: turns bytes into a value of the given type.
  /// - Returns: the coding.
  public static func custom(
    _ name: String,
    encode: @escaping @Sendable (any Encodable) throws -> Data,
    decode: @escaping @Sendable (any Decodable.Type, Data) throws -> any Decodable
  ) -> CodableCoding {
    CodableCoding(type: ValueType(.custom), name: name, encode: encode, decode: decode)
  }

  // Encoders are Sendable and keep no state between calls.
  private static let jsonEncoder = JSONEncoder()
  private static let jsonDecoder = JSONDecoder()

  func append<Value: Encodable>(_ value: Value, to bytes: inout [UInt8]) throws(StorageError) {
    guard Self.isEncodableHere(Value.self) else { throw Self.isOfActor(Value.self) }
    var data: Data
    do {
      // JSON avoids the conversion to `any Encodable`.
      data = try isJSON ? Self.jsonEncoder.encode(value) : encode(value)
    } catch {
      // The error itself may quote the value.
      throw StorageError(
        .invalid, "the \(Swift.type(of: value)) can't be encoded (\(type)): \(Self.reason(error))")
    }
    defer { Wipe.data(&data) }
    type.append(to: &bytes)
    if type.tag == .custom {
      guard name.utf8.count < 256 else {
        throw StorageError(
          .invalid, "the name of the coding is longer than 255 bytes; use a shorter name")
      }
      bytes.appendWiping(UInt8(name.utf8.count))
      bytes.appendWiping(contentsOf: name.utf8)
    }
    try data.append(to: &bytes)
  }

  func read<Value: Decodable>(
    _: Value.Type, _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> Value {
    guard type.matches(bytes, at: &offset) else {
      return try StoredForms<Value>.readPlain(bytes, at: &offset)
    }
    guard Self.isDecodableHere(Value.self) else { throw Self.isOfActor(Value.self) }
    if type.tag == .custom {
      let count = Int(try ByteReading.integer(bytes, at: &offset, as: UInt8.self))
      let stored = try ByteReading.array(of: count, bytes, at: &offset)
      guard stored == Array(name.utf8) else {
        throw StorageError(
          .typeMismatch,
          "the value was stored with a custom coding of another name; use that coding")
      }
    }
    let count = Int(try ByteReading.integer(bytes, at: &offset, as: UInt32.self))
    let range = try ByteReading.range(of: count, bytes, at: &offset)
    let value: Value?
    do {
      value = try unsafe bytes.extracting(range).withUnsafeBytes { unsafe try decoded($0) }
    } catch {
      // The error itself may quote the value.
      throw StorageError(
        .typeMismatch,
        "the value is stored as \(type) and doesn't decode as \(Value.self): \(Self.reason(error)). It was "
          + "left unchanged. Make \(Value.self) decode the form of older versions, or save a new value over "
          + "it. If the property is live, call remove() before you save"
      )
    }
    guard let value else {
      throw StorageError(
        .typeMismatch, "the custom coding returned a value that is not a \(Value.self)")
    }
    return value
  }

  /// Whether the next bytes are a value in this coding, apart from the name of a custom one.
  func isNext(_ bytes: RawSpan, at offset: Int) -> Bool {
    var offset = offset
    return type.matches(bytes, at: &offset)
  }

  /// Whether this thread may use a conformance to `Encodable`, which may belong to an actor.
  ///
  /// The compiler refuses most calls from elsewhere. A wrapper of any type, such as `@Vault`, hides
  /// the conformance from it. A cast of a value finds a conformance of an actor only on that actor.
  /// An empty array does as the value, since it conforms as its elements do. Without constraints
  /// and not inlined, because the compiler would otherwise know the answer.
  @inline(never)
  private static func isEncodableHere<Value>(_: Value.Type) -> Bool {
    ([Value]() as Any) is any Encodable
  }

  /// The same for `Decodable`.
  @inline(never)
  private static func isDecodableHere<Value>(_: Value.Type) -> Bool {
    ([Value]() as Any) is any Decodable
  }

  private static func isOfActor(_ type: Any.Type) -> StorageError {
    StorageError(
      .unsupported,
      "the Codable conformance of \(type) belongs to an actor, and this call does not run there; mark "
        + "the type nonisolated, or use the property only on that actor and without its async calls"
    )
  }

  private func decoded<Value: Decodable>(_ bytes: UnsafeRawBufferPointer) throws -> Value? {
    if isJSON, let start = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress) {
      // JSONDecoder keeps no reference to its input, so the plaintext need not be copied; the
      // caller wipes it.
      let data = unsafe Data(bytesNoCopy: start, count: bytes.count, deallocator: .none)
      return try Self.jsonDecoder.decode(Value.self, from: data)
    }
    var data = unsafe Data(bytes)
    defer { Wipe.data(&data) }
    return try decode(Value.self, data) as? Value
  }
}

extension Wipe {
  /// Overwrites data that has no other owner.
  package static func data(_ data: inout Data) {
    unsafe data.withUnsafeMutableBytes { unsafe buffer($0) }
  }
}
