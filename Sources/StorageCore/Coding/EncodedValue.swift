public import CryptoCore
public import FoundationEssentials

/// The stored bytes of a `Codable` value, for a program that doesn't know the value's type.
///
/// Load and save it like any other value, also in a transaction. Nothing is decoded, so every digit
/// of a number and the order of an object's members stay as they are:
///
///     let user = try vault.load(EncodedValue.self, forKey: "user")
///
/// A value that is stored in any other form is the error `typeMismatch`.
public struct EncodedValue: Hashable, Sendable, RedactedDescription {
  /// How the value was encoded.
  public enum Coding: Hashable, Sendable {
    /// JSON, as of ``CodableCoding/json``.
    case json
    /// A property list, as of ``CodableCoding/propertyList``.
    case propertyList

    var type: ValueType {
      switch self {
      case .json: ValueType(.json)
      case .propertyList: ValueType(.propertyList)
      }
    }
  }

  /// How the value was encoded.
  public let coding: Coding
  /// The bytes, which are secret and not wiped.
  public let data: Data

  /// Makes a value of bytes that are already encoded.
  ///
  /// - Parameters:
  ///   - data: JSON in UTF-8, or a binary property list. A number in JSON may have any size:
  ///     whether it can be decoded is up to the type that reads it.
  ///   - coding: which of the two it is.
  /// - Throws: `StorageError` with `invalid` for other bytes.
  public init(_ data: Data, coding: Coding) throws(StorageError) {
    guard Self.isValue(data, coding) else {
      throw StorageError(.invalid, "the bytes are not a value encoded as \(coding.type)")
    }
    self.init(stored: data, coding)
  }

  private static func isValue(_ data: Data, _ coding: Coding) -> Bool {
    switch coding {
    case .json:
      return String(validating: data, as: UTF8.self).map { JSONSyntax.isValue($0) } ?? false
    case .propertyList:
      return PropertyListSyntax.isValue(data)
    }
  }

  private init(stored data: Data, _ coding: Coding) {
    self.data = data
    self.coding = coding
  }

  static let coder = ValueCoder<EncodedValue>(
    append: { (value, bytes) throws(StorageError) in
      value.coding.type.append(to: &bytes)
      try value.data.append(to: &bytes)
    },
    read: { (bytes, offset) throws(StorageError) in
      for coding in [Coding.json, .propertyList] where coding.type.matches(bytes, at: &offset) {
        return EncodedValue(stored: try Data.read(bytes, at: &offset), coding)
      }
      throw try ValueCoder<EncodedValue>.mismatch(bytes, at: offset)
    })
}
