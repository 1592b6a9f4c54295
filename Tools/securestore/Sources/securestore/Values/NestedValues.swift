/// Flattens nested objects to values with dotted names.
enum NestedValues {
  /// Each value, under its name and the names of the objects around it, joined by dots.
  ///
  /// An object without members stays a value. A list whose elements have one type becomes a list of
  /// that type, unless an object names its type.
  ///
  /// - Throws: `Failure` if two values would have the same name.
  static func entries(
    of members: [(String, FileValue)]
  ) throws -> [(name: String, value: FileValue)] {
    var entries: [(name: String, value: FileValue)] = []
    var names: Set<[UInt8]> = []
    func add(_ name: String, _ value: FileValue) throws {
      if let members = value.members, !members.isEmpty, try !hasType(members) {
        for (inner, value) in members { try add("\(name).\(inner)", value) }
        return
      }
      guard names.insert(Array(name.utf8)).inserted else {
        throw Failure(.malformedInput, "two values would have this name", key: name)
      }
      entries.append((name, typed(value)))
    }
    for (name, value) in members { try add(name, value) }
    return entries
  }

  /// Whether the members name a type and give a value of it.
  private static func hasType(_ members: [(String, FileValue)]) throws -> Bool {
    guard members.contains(where: { $0.0 == TypedJSON.typeName }) else { return false }
    return TypedJSON.parts(of: try FileValue.object(members).json()) != nil
  }

  private static func typed(_ value: FileValue) -> FileValue {
    guard case .json(let json) = value, case .array(let elements) = json,
      let element = elementType(elements),
      // A number that no Double holds keeps its digits in JSON.
      element != "Double" || [Double].reading(json) != nil
    else { return value }
    return .json(TypedJSON.tagged("[\(element)]", json))
  }

  private static func elementType(_ elements: [JSONValue]) -> String? {
    guard !elements.isEmpty else { return "String" }
    let types = Set(elements.map(type))
    guard types.isSubset(of: ["Int", "UInt", "Double"]) else {
      return types.count == 1 ? types.first.flatMap { $0 } : nil
    }
    if types == ["Int"] { return "Int" }
    let digits = elements.compactMap { if case .number(let digits) = $0 { digits } else { nil } }
    if digits.allSatisfy({ UInt($0) != nil }) { return "UInt" }
    return digits.allSatisfy(isDouble) ? "Double" : nil
  }

  /// Whether a Double holds the number, if it is a whole one.
  private static func isDouble(_ digits: String) -> Bool {
    if let number = Int(digits) { return Double(exactly: number) != nil }
    if let number = UInt(digits) { return Double(exactly: number) != nil }
    return true
  }

  private static func type(_ json: JSONValue) -> String? {
    switch json {
    case .string: "String"
    case .bool: "Bool"
    case .number(let digits): Int(digits) != nil ? "Int" : UInt(digits) != nil ? "UInt" : "Double"
    case .null, .array, .object: nil
    }
  }
}
