public import FoundationEssentials
internal import StorageCore

/// How the value of a key becomes bytes.
public struct Serializer: Sendable {
  /// The form of the bytes, as stored beside a sealed value.
  package enum Form: UInt8, Sendable {
    case json = 1
    case propertyList = 2
    case data = 3
    case custom = 4
  }

  /// The closures of a custom serializer, for one type of value.
  private struct Coding<Value>: Sendable {
    let encode: @Sendable (Value) throws -> Data
    let decode: @Sendable (Data) throws -> Value
  }

  package let form: Form
  /// The name of a custom serializer; otherwise that of the form.
  public let name: String
  private let coding: (any Sendable)?

  private init(_ form: Form, _ name: String, _ coding: (any Sendable)? = nil) {
    self.form = form
    self.name = name
    self.coding = coding
  }

  /// JSON, by Foundation's encoder; the keys of objects are sorted.
  public static let json = Serializer(.json, "json")
  /// A binary property list, by Foundation's encoder; a scalar is a property list of its own.
  public static let plist = Serializer(.propertyList, "plist")
  /// The bytes unchanged, for values of type `Data`.
  public static let data = Serializer(.data, "data")

  /// Creates a serializer of the application's own.
  ///
  /// - Parameters:
  ///   - name: the name in reports.
  ///   - encode: turns a value into bytes.
  ///   - decode: turns bytes into a value.
  /// - Returns: the serializer, for keys of that type of value; keys of other types are refused.
  public static func custom<Value>(
    _ name: String = "custom", encode: @escaping @Sendable (Value) throws -> Data,
    decode: @escaping @Sendable (Data) throws -> Value
  ) -> Serializer {
    Serializer(.custom, name, Coding(encode: encode, decode: decode))
  }

  // Coders are Sendable and keep no state between calls.
  private static let jsonEncoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return encoder
  }()
  private static let jsonDecoder = JSONDecoder()

  /// Why values of a type can't be serialized, or nil if they can.
  func fault<Value>(for type: Value.Type) -> String? {
    switch form {
    case .data where Value.self != Data.self:
      "the serializer data takes values of type Data, but the key has values of \(Value.self)"
    case .custom where !(coding is Coding<Value>):
      "the serializer \(name) takes values of another type than \(Value.self)"
    default: nil
    }
  }

  /// The same serializer for the bytes themselves, of a value whose type is not known here.
  package var ofBytes: Serializer {
    Serializer(form, name, Coding<Data>(encode: { $0 }, decode: { $0 }))
  }

  /// The bytes of a value.
  package func encode<Value: Encodable>(_ value: Value) throws(StorageError) -> Data {
    do {
      if let coding = coding as? Coding<Value> { return try coding.encode(value) }
      switch form {
      case .json: return try Self.jsonEncoder.encode(value)
      case .propertyList: return try PropertyListCoder.encode(value)
      case .data: if let data = value as? Data { return data }
      case .custom: break
      }
    } catch {
      // The error itself may quote the value.
      throw StorageError(
        .invalid,
        "the \(Value.self) can't be serialized (\(name)): \(CodableCoding.reason(error))")
    }
    throw mismatch(Value.self)
  }

  /// The value of the bytes.
  package func decode<Value: Decodable>(
    _ type: Value.Type, _ bytes: Data
  ) throws(StorageError) -> Value {
    do {
      if let coding = coding as? Coding<Value> { return try coding.decode(bytes) }
      switch form {
      case .json: return try Self.jsonDecoder.decode(Value.self, from: bytes)
      case .propertyList: return try PropertyListCoder.decode(Value.self, from: bytes)
      case .data: if let value = bytes as? Value { return value }
      case .custom: break
      }
    } catch {
      throw StorageError(
        .typeMismatch,
        "the value does not decode as \(Value.self) (\(name)): \(CodableCoding.reason(error)). It was "
          + "not changed")
    }
    throw mismatch(Value.self)
  }

  private func mismatch(_ type: Any.Type) -> StorageError {
    StorageError(.unsupported, "the serializer \(name) takes values of another type than \(type)")
  }
}

extension Serializer: CustomStringConvertible {
  /// The name.
  public var description: String { name }
}
