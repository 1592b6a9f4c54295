internal import ArgumentParser
internal import CryptoCore
internal import Foundation

/// What `set` makes of the bytes that it is given.
enum ValueKind: String, CaseIterable, ExpressibleByArgument {
  case string
  case int
  case double
  case bool
  case data
  case json

  /// The value of its kind, as it is stored.
  ///
  /// - Throws: `Failure` that quotes nothing of the bytes.
  func value(of bytes: SecureBytes, _ key: String) throws -> any Sendable {
    if self == .data { return Data(bytes.array) }
    guard let text = bytes.text else {
      throw Failure(.malformedInput, "the value is not UTF-8; store it with --type data", key: key)
    }
    let word = text.trimmingCharacters(in: .whitespacesAndNewlines)
    let value: (any Sendable)? =
      switch self {
      case .string, .data: text
      case .int: Int(word)
      case .double: Self.double(word)
      case .bool: Self.booleans[word.lowercased()]
      case .json: try JSONReader.value(of: text)
      }
    guard let value else {
      throw Failure(.malformedInput, "the value is not \(title)", key: key)
    }
    return value
  }

  private var title: String {
    switch self {
    case .string: "text"
    case .int: "a whole number of 64 bits"
    case .double: "a number"
    case .bool: "true or false"
    case .data: "data"
    case .json: "JSON"
    }
  }

  /// An infinity only where it is called so, and not for a number that is too large.
  private static func double(_ word: String) -> Double? {
    guard let value = Double(word) else { return nil }
    return value.isFinite || !word.contains(where: \.isNumber) ? value : nil
  }

  private static let booleans = [
    "true": true, "yes": true, "1": true, "on": true,
    "false": false, "no": false, "0": false, "off": false,
  ]
}
