extension CodableCoding {
  /// What is wrong with which part, in words that quote nothing of what was coded.
  ///
  /// A part is named by its coding keys as far as these are names of the program's source: the cases of
  /// an enumeration. Keys of a dictionary are data, and stand there as `[...]`, as indices of an array do.
  package static func reason(_ error: any Error) -> String {
    switch error {
    case DecodingError.typeMismatch(let type, let context):
      "\(part(context.codingPath)) is not of type \(type)"
    case DecodingError.valueNotFound(let type, let context):
      "\(part(context.codingPath)) has no value, where a \(type) is expected"
    case DecodingError.keyNotFound(let key, let context): missing(key, in: context.codingPath)
    case DecodingError.dataCorrupted(let context): "\(part(context.codingPath)) is not valid"
    case EncodingError.invalidValue(_, let context):
      "\(part(context.codingPath)) has no form in the coding"
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

  /// The key, if it is written in source: a case without values, and not a key made of data.
  private static func name(_ key: any CodingKey) -> String? {
    let mirror = Mirror(reflecting: key)
    return mirror.displayStyle == .enum && mirror.children.isEmpty ? key.stringValue : nil
  }
}
