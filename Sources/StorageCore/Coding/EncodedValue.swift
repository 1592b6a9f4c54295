public import CryptoCore
public import FoundationEssentials

/// The stored bytes of a `Codable` value, for a program that doesn't know the value's type.
///
/// Load it and save it again like any other value, also in a transaction. Nothing is decoded, so
/// every digit of a number and the order of an object's members stay as they are:
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

  /// Makes a value of bytes that are already encoded, which are not checked.
  package init(_ data: Data, coding: Coding) {
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
        return EncodedValue(try Data.read(bytes, at: &offset), coding: coding)
      }
      throw try ValueCoder<EncodedValue>.mismatch(bytes, at: offset)
    })
}
