/// The name of a type with its module, only for people: types that print alike are different keys.
func name(of type: any Any.Type) -> String {
  let name = withoutContexts(String(reflecting: type))
  // The metatype of `any P` prints as `P.Protocol`, the one of a concrete type as `T.Type`.
  guard String(reflecting: Swift.type(of: type)).hasSuffix(".Protocol") else { return name }
  return name == "Any" || name == "Swift.AnyObject" ? name : "any " + name
}

/// A name without the address that the runtime gives for a private or local type's surroundings.
private func withoutContexts(_ name: String) -> String {
  let mark = "(unknown context at $"
  var rest = Substring(name)
  var result = ""
  while let start = rest.firstIndex(of: "(") {
    result += rest[..<start]
    rest = rest[start...]
    if rest.hasPrefix(mark), let end = rest.firstIndex(of: ")") {
      rest = rest[rest.index(after: end)...].drop { $0 == "." }
    } else {
      result.append(rest.removeFirst())
    }
  }
  return result + rest
}
