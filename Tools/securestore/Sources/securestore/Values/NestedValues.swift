/// Flattens nested objects to values with dotted names.
enum NestedValues {
  /// Each value, under its name and the names of the objects around it, joined by dots.
  ///
  /// A list whose elements have one type becomes a list of that type, unless an object names its type.
  ///
  /// - Throws: `Failure` if two values would have the same name.
  static func entries(
    of members: [(String, JSONValue)]
  ) throws -> [(name: String, json: JSONValue)] {
    var entries: [(name: String, json: JSONValue)] = []
    var names: Set<[UInt8]> = []
    func add(_ name: String, _ json: JSONValue) throws {
      if case .object(let members) = json, TypedJSON.parts(of: json) == nil {
        for (inner, json) in members { try add("\(name).\(inner)", json) }
        return
      }
      guard names.insert(Array(name.utf8)).inserted else {
        throw Failure(.malformedInput, "two values would have this name", key: name)
      }
      entries.append((name, typed(json)))
    }
    for (name, json) in members { try add(name, json) }
    return entries
  }

  private static func typed(_ json: JSONValue) -> JSONValue {
    guard case .array(let elements) = json, let element = elementType(elements),
      element != "Double" || [Double].reading(json) != nil
    else { return json }
    return TypedJSON.tagged("[\(element)]", json)
  }

  private static func elementType(_ elements: [JSONValue]) -> String? {
    let types = Set(elements.map(type))
    switch types {
    case []: return "String"
    case ["Int", "Double"]: return "Double"
    default: return types.count == 1 ? types.first.flatMap { $0 } : nil
    }
  }

  private static func type(_ json: JSONValue) -> String? {
    switch json {
    case .string: "String"
    case .bool: "Bool"
    case .number: Int.reading(json) == nil ? "Double" : "Int"
    case .null, .array, .object: nil
    }
  }
}
