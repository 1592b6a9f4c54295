public import Foundation
internal import StorageCore

/// How the value of a key becomes bytes.
public struct Serializer: Sendable {
  /// Which form, as stored beside a sealed value.
  package enum Form: UInt8, Sendable {
    case json = 1
    case propertyList = 2
    case data = 3
    case custom = 4
  }

  /// The coding of a custom serializer, for the type that it is of.
  private struct Coding<Value>: Sendable {
    let encode: @Sendable (Value) throws -> Data
    let decode: @Sendable (Data) throws -> Value
  }

  package let form: Form
  /// The name of a custom one; else that of the form.
  public let name: String
  private let coding: (any Sendable)?

  private init(_ form: Form, _ name: String, _ coding: (any Sendable)? = nil) {
    self.form = form
    self.name = name
    self.coding = coding
  }

  /// JSON, by Foundation's encoder; objects have their keys in order.
  public static let json = Serializer(.json, "json")
  /// A binary property list, by Foundation's encoder; the value must be a container, not a scalar.
  public static let plist = Serializer(.propertyList, "plist")
  /// The bytes as they are, for values of type `Data`.
  public static let data = Serializer(.data, "data")

  /// A serializer that needs nothing of the application's, by its name.
  package static func standard(named name: String) -> Serializer? {
    [json, plist, data].first { $0.name == name }
  }

  /// A serializer of the application's own.
  ///
  /// - Parameters:
  ///   - name: what reports call it.
  ///   - encode: makes bytes of a value.
  ///   - decode: makes a value of bytes.
  /// - Returns: the serializer, for keys of that type of value alone; others are refused.
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
  private static let plistDecoder = PropertyListDecoder()
  private static let plistEncoder: PropertyListEncoder = {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    return encoder
  }()

  /// Why values of a type can't be serialized, or nil.
  func fault<Value>(for type: Value.Type) -> String? {
    switch form {
    case .data where Value.self != Data.self:
      "the serializer data is for values of type Data, and the key's are of \(Value.self)"
    case .custom where !(coding is Coding<Value>):
      "the serializer \(name) is for values of another type than \(Value.self)"
    default: nil
    }
  }

  /// The bytes of a value.
  package func encode<Value: Encodable>(_ value: Value) throws(StorageError) -> Data {
    do {
      switch form {
      case .json: return try Self.jsonEncoder.encode(value)
      case .propertyList: return try Self.plistEncoder.encode(value)
      case .data: if let data = value as? Data { return data }
      case .custom: if let coding = coding as? Coding<Value> { return try coding.encode(value) }
      }
    } catch {
      // The error itself may quote the value.
      throw StorageError(
        .invalid,
        "the \(Value.self) can't be serialized (\(name)): \(CodableCoding.reason(error))")
    }
    throw mismatch(Value.self)
  }

  /// The value of bytes.
  package func decode<Value: Decodable>(
    _ type: Value.Type, _ bytes: Data
  ) throws(StorageError) -> Value {
    do {
      switch form {
      case .json: return try Self.jsonDecoder.decode(Value.self, from: bytes)
      case .propertyList: return try Self.plistDecoder.decode(Value.self, from: bytes)
      case .data: if let value = bytes as? Value { return value }
      case .custom: if let coding = coding as? Coding<Value> { return try coding.decode(bytes) }
      }
    } catch {
      throw StorageError(
        .typeMismatch,
        "the value does not decode as \(Value.self) (\(name)): \(CodableCoding.reason(error)). It is "
          + "left as it is")
    }
    throw mismatch(Value.self)
  }

  private func mismatch(_ type: Any.Type) -> StorageError {
    StorageError(.unsupported, "the serializer \(name) is for values of another type than \(type)")
  }
}

extension Serializer: CustomStringConvertible {
  /// The name.
  public var description: String { name }
}
