internal import CryptoCore
internal import FoundationEssentials
internal import StorageCore

/// A secret in the form in which other programs read it, and what kind of bytes it is.
struct PlainSecret: Sendable {
  static let text = "text/plain"
  static let binary = "application/octet-stream"

  let bytes: SecureBytes
  let contentType: String

  /// Makes a secret of bytes of a known kind.
  init(_ bytes: SecureBytes, contentType: String) {
    self.bytes = bytes
    self.contentType = contentType
  }

  /// Makes a secret of bytes whose kind only the service named; some services call all bytes
  /// `text/plain`.
  init(_ bytes: SecureBytes, said contentType: String) {
    let isText =
      contentType.hasPrefix("text/")
      && bytes.withBytes { span in
        unsafe span.withUnsafeBytes { bytes in
          // KWallet cuts text at a zero.
          unsafe !bytes.contains(0) && Self.isText(bytes)
        }
      }
    self.init(bytes, contentType: isText ? Self.text : Self.binary)
  }

  /// The form of a value; docs/keyring.md, "Values".
  ///
  /// - Throws: `invalid` for a value that has no form.
  init<Value: Encodable>(_ value: Value) throws(StorageError) {
    switch value {
    case is any OptionalValue:
      throw StorageError(
        .invalid, "the keyring can't store an optional; unwrap it, or empty the container")
    case let data as Data: try self.init(copying: data, Self.binary)
    case let text as String:
      // KWallet cuts text at a zero.
      try self.init(copying: text.utf8, text.utf8.contains(0) ? Self.binary : Self.text)
    case let value as any TextualValue: try self.init(copying: value.plainText.utf8, Self.text)
    default: try self.init(copying: try PlainCoding.json.encode(value), Self.text)
    }
  }

  /// Makes a secret of a coder's output, which may be text.
  init(encoded data: Data) throws(StorageError) {
    let bytes = try cryptography { () throws(CryptoError) in try SecureBytes(data) }
    self.init(bytes, said: Self.text)
  }

  /// A copy for callers that need `Data`.
  var data: Data {
    bytes.withBytes { span in unsafe span.withUnsafeBytes { unsafe Data($0) } }
  }

  private init(copying bytes: some Collection<UInt8>, _ contentType: String) throws(StorageError) {
    self.init(
      try cryptography { () throws(CryptoError) in try SecureBytes(bytes) },
      contentType: contentType)
  }

  /// The value of a type.
  ///
  /// - Throws: `typeMismatch` when the secret is no value of that type.
  func value<Value: Decodable>(of type: Value.Type) throws(StorageError) -> Value {
    try bytes.withBytes { (span) throws(StorageError) in try Self.value(of: type, span) }
  }

  private static func value<Value: Decodable>(
    of type: Value.Type, _ span: RawSpan
  ) throws(StorageError) -> Value {
    let value: Any?
    switch type {
    case is any OptionalValue.Type:
      throw StorageError(
        .invalid, "the keyring can't return an optional; request the wrapped type")
    case is Data.Type: value = unsafe span.withUnsafeBytes { unsafe Data($0) }
    case is String.Type: value = text(span)
    case let type as any TextualValue.Type:
      // `echo 42 | secret-tool store` keeps the line break.
      value = text(span).flatMap {
        type.init(plainText: $0.hasSuffix("\n") ? $0.dropLast() : $0[...])
      }
    default:
      let data = unsafe span.withUnsafeBytes { unsafe Data($0) }
      return try PlainCoding.json.decode(type, data)
    }
    guard let value = value as? Value else {
      throw Self.isNot(type)
    }
    return value
  }

  fileprivate static func isNot(_ type: any Any.Type) -> StorageError {
    StorageError(
      .typeMismatch, "the secret exists but is not a \(type); read it with another type")
  }

  /// Whether bytes are UTF-8, without a copy of them.
  private static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
    unsafe bytes.withMemoryRebound(to: UInt8.self) { bytes in
      let span = unsafe Span(_unsafeElements: bytes)
      do { _ = try UTF8Span(validating: span) } catch { return false }
      return true
    }
  }

  private static func text(_ span: RawSpan) -> String? {
    unsafe span.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
  }
}

/// How `Codable` values become a secret.
struct PlainCoding: Sendable {
  let encode: @Sendable (any Encodable) throws(StorageError) -> Data
  let decoder: @Sendable (any Decodable.Type, Data) throws -> any Decodable

  /// JSON, by Foundation's coders with their defaults.
  static let json = PlainCoding(JSONEncoder(), JSONDecoder())

  /// JSON, by coders of the caller's.
  init(_ encoder: JSONEncoder, _ decoder: JSONDecoder) {
    self.init(encode: { try encoder.encode($0) }, decode: { try decoder.decode($0, from: $1) })
  }

  /// A property list, by coders of the caller's.
  init(_ encoder: PropertyListEncoder, _ decoder: PropertyListDecoder) {
    self.init(
      encode: { try encoder.encode($0) },
      decode: { type, data in
        guard PropertyListShape.isHarmless(data) else {
          throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: ""))
        }
        return try decoder.decode(type, from: data)
      })
  }

  private init(
    encode: @escaping @Sendable (any Encodable) throws -> Data,
    decode: @escaping @Sendable (any Decodable.Type, Data) throws -> any Decodable
  ) {
    self.encode = { (value) throws(StorageError) in
      do { return try encode(value) } catch {
        // The error itself may quote the value.
        throw StorageError(
          .invalid, "the \(type(of: value)) can't be encoded: \(CodableCoding.reason(error))")
      }
    }
    decoder = decode
  }

  func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws(StorageError) -> Value {
    do {
      if let value = try decoder(type, data) as? Value { return value }
    } catch {
      // The error itself may quote the value.
      throw StorageError(
        .typeMismatch,
        "the secret exists but does not decode as a \(type): \(CodableCoding.reason(error))")
    }
    throw PlainSecret.isNot(type)
  }
}

/// An optional of any type.
private protocol OptionalValue {}
extension Optional: OptionalValue {}
