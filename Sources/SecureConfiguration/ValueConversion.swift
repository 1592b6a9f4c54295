#if Configuration
  internal import Configuration
  internal import Foundation
  internal import StorageCore

  /// Converts a stored value to a configuration value, if the conversion is exact.
  ///
  /// The documentation of ``SecureStorageProvider`` has the table.
  struct ValueConversion: Sendable {
    let bytesDecoder: any ConfigBytesFromStringDecoder
    let arraySeparator: Character

    /// The content, or nil if the value does not convert to the type.
    func content(of stored: Any, as type: ConfigType) -> ConfigContent? {
      switch type {
      case .string: string(stored).map { .string($0) }
      case .int: int(stored).map { .int($0) }
      case .double: double(stored).map { .double($0) }
      case .bool: bool(stored).map { .bool($0) }
      case .bytes: bytes(stored).map { .bytes($0) }
      case .stringArray: list(stored, string).map { .stringArray($0) }
      case .intArray: list(stored, int).map { .intArray($0) }
      case .doubleArray: list(stored, double).map { .doubleArray($0) }
      case .boolArray: list(stored, bool).map { .boolArray($0) }
      case .byteChunkArray: list(stored, bytes).map { .byteChunkArray($0) }
      }
    }

    private func list<Element>(_ stored: Any, _ read: (Any) -> Element?) -> [Element]? {
      if let text = stored as? String {
        // Empty parts stay, as in the other providers: "1,,2" is no list of integers.
        let parts = text.split(separator: arraySeparator, omittingEmptySubsequences: false)
          .map { $0.trimming }
        return Self.all(parts, read)
      }
      guard let stored = stored as? [Any] else { return nil }
      return Self.all(stored, read)
    }

    /// All elements, or nil if one can't be converted; no element is dropped.
    private static func all<Element>(
      _ elements: [Any], _ read: (Any) -> Element?
    ) -> [Element]? {
      var list: [Element] = []
      for element in elements {
        guard let element = read(element) else { return nil }
        list.append(element)
      }
      return list
    }

    private func string(_ stored: Any) -> String? {
      switch stored {
      case let text as String: text
      case let url as URL: url.absoluteString
      case let uuid as UUID: uuid.uuidString
      default: nil
      }
    }

    private func int(_ stored: Any) -> Int? {
      if let number = stored as? any BinaryInteger { return Int(exactly: number) }
      return (stored as? String).flatMap { Int(exactText: $0) }
    }

    private func double(_ stored: Any) -> Double? {
      switch stored {
      case let number as Double: number
      case let number as Float: Double(number)
      case let number as any BinaryInteger: Double(exactly: number)
      case let text as String: Double(exactText: text)
      default: nil
      }
    }

    private func bool(_ stored: Any) -> Bool? {
      if let value = stored as? Bool { return value }
      return (stored as? String).flatMap { Bool(exactText: $0) }
    }

    private func bytes(_ stored: Any) -> [UInt8]? {
      switch stored {
      case let data as Data: Array(data)
      case let bytes as [UInt8]: bytes
      case let elements as [Any]: Self.all(elements) { $0 as? UInt8 }
      case let text as String: bytesDecoder.decode(text)
      default: nil
      }
    }
  }

  extension Substring {
    fileprivate var trimming: String { trimmingCharacters(in: .whitespacesAndNewlines) }
  }
#endif
