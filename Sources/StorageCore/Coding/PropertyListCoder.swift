internal import CryptoCore
package import Foundation

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
    let values = try unsafe PropertyListSerialization.propertyList(from: list, format: nil)
    // The decoder takes this text for nil: it is how the encoder writes nil.
    guard let scalar = (values as? [Any])?.first,
      (value as? String) != nilText, (value as? any RawRepresentable<String>)?.rawValue != nilText
    else { throw error }
    return try PropertyListSerialization.data(fromPropertyList: scalar, format: .binary, options: 0)
  }

  private static let nilText = "$null"
}
