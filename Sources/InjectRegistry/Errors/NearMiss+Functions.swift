/// Whether a type is that of a function.
///
/// Types are compared as the runtime names them; the names of function types end like this:
/// https://github.com/swiftlang/swift/blob/main/docs/ABI/Mangling.rst, `type 'c'`, and only those
/// of protocols that are bound to a class end in `Xc`.
func isFunction(_ type: any Any.Type) -> Bool {
  guard let name = _mangledTypeName(type) else { return false }
  return name.hasSuffix("c") && !name.hasSuffix("Xc")
}

extension NearMiss {
  /// Why a function is missing where a builder was registered, and the reverse.
  var reasonOfFunctions: String? {
    let (registered, requested) = (registration.name, subject.dependency)
    if isFunction(node.type) {
      let signature = Self.signature(requested)
      let taken = registration.parameters.map(name(of:)) ?? ""
      if !registration.isValue, signature == Self.signature("(\(taken)) -> \(registered)") {
        return "the function was taken for its builder; to inject the function itself, write "
          + "@Register var f: \(requested) = ..., or register(f, as: (\(requested)).self)"
      }
      guard isFunction(registration.type), signature == Self.signature(registered) else {
        return nil
      }
      return "a function that differs in throws, async, @Sendable or its actor; register it as "
        + requested
    }
    guard isFunction(registration.type), Self.signature(registered) == "() -> \(requested)" else {
      return nil
    }
    return "a function that returns it; to run the function as its builder, write { f() }"
  }

  /// The type of a function without what it may do besides.
  private static func signature(_ name: String) -> String {
    // Inside of a function's name, the runtime leaves out `any`.
    let words = name.replacing("any ", with: "").split(separator: " ").filter { word in
      !word.hasPrefix("@") && !word.hasPrefix("throws") && word != "async" && word != "sending"
        && !word.hasPrefix("nonisolated(")
    }
    return words.joined(separator: " ")
  }

  /// Whether only the labels of two tuples differ.
  var hasOtherLabels: Bool {
    let (registered, requested) = (registration.name, subject.dependency)
    guard registered.hasPrefix("("), requested.hasPrefix("(") else { return false }
    return Self.unlabelled(registered) == Self.unlabelled(requested)
  }

  /// The name of a tuple's type without labels.
  private static func unlabelled(_ name: String) -> String {
    var words = name.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    for index in words.indices where words[index].hasSuffix(":") {
      words[index] = String(words[index].prefix { $0 == "(" })
    }
    return words.joined(separator: " ").replacing("( ", with: "(").replacing("  ", with: " ")
  }
}
