internal import StorageCore

/// How a value is stored: its type and its size, without the value.
struct StoredForm: CustomStringConvertible {
  private let summary: ValueSummary

  init(_ summary: ValueSummary) { self.summary = summary }

  /// The type as the library names it.
  var type: String { summary.type.description }

  /// As in "as text (4 bytes)".
  var description: String {
    "as \(Self.title(type)) (\(Printable.count(summary.byteCount, "byte")))"
  }

  /// The members of an answer in JSON.
  var json: JSONValue { ["type": type, "bytes": summary.byteCount] }

  /// The type in words.
  static func title(_ type: String) -> String { type == "String" ? "text" : type }
}

extension StorageTransaction {
  /// How a value that the transaction has just written is stored.
  func form(of key: StoreKey) throws -> StoredForm {
    guard let summary = try summary(forKey: key) else {
      throw Failure(.software, "the new value is not in the transaction", key: key)
    }
    return StoredForm(summary)
  }
}
