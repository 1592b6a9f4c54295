internal import StorageCore

extension KeySlot {
  /// The kind and what tells the source from others of its kind.
  var title: String { identifier.isEmpty ? kind : "\(kind) \(identifier)" }

  var json: JSONValue {
    .object([
      ("id", .number("\(id)")), ("kind", .string(kind)), ("identifier", .string(identifier)),
    ])
  }
}
