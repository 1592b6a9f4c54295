extension CodableCoding {
  /// Describes what is wrong with which part of a value, without quoting the value.
  ///
  /// The text names a part by those coding keys that are written in the program's source, as cases
  /// of an enumeration. Keys of a dictionary are data, so the text shows `[...]` for them, and for
  /// array indices.
  package static func reason(_ error: any Error) -> String {
    switch error {
    case DecodingError.typeMismatch(let type, let context):
      "\(part(context.codingPath)) is not of type \(type)"
    case DecodingError.valueNotFound(let type, let context):
      "\(part(context.codingPath)) has no value, where a \(type) is expected"
    case DecodingError.keyNotFound(let key, let context): missing(key, in: context.codingPath)
    // Bytes that are no JSON or property list have an underlying error.
    case DecodingError.dataCorrupted(let context) where context.underlyingError == nil:
      "\(part(context.codingPath)) is a value that this version of its type does not know"
    case DecodingError.dataCorrupted(let context): "\(part(context.codingPath)) is not valid"
    case EncodingError.invalidValue(_, let context):
      "\(part(context.codingPath)) can't be expressed in this coding"
    default: "\(Swift.type(of: error))"
    }
  }

  private static func missing(_ key: any CodingKey, in path: [any CodingKey]) -> String {
    guard name(key) != nil else {
      return path.isEmpty ? "a key is missing" : "a key is missing in \(part(path))"
    }
    return "the key \"\(text(path + [key]))\" is missing"
  }

  private static func part(_ path: [any CodingKey]) -> String {
    path.contains { name($0) != nil } ? "\"\(text(path))\"" : "a part"
  }

  private static func text(_ path: [any CodingKey]) -> String {
    var text = ""
    for key in path {
      guard let name = name(key) else {
        text += "[...]"
        continue
      }
      text += text.isEmpty ? name : ".\(name)"
    }
    return text
  }

  /// The key, if it is written in source as an enumeration case without values; nil for a key made
  /// of data.
  private static func name(_ key: any CodingKey) -> String? {
    let mirror = Mirror(reflecting: key)
    return mirror.displayStyle == .enum && mirror.children.isEmpty ? key.stringValue : nil
  }
}
