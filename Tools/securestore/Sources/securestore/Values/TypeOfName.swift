internal import ArgumentParser
internal import StorageCore

/// The argument of `import --type`: a type for one value, or for all values without an own option.
struct TypeOfName: ExpressibleByArgument {
  /// The name of the value; nil for all others.
  private let name: String?
  private let type: Said

  private enum Said {
    /// The type that the file gives to the value.
    case auto
    case kind(ValueKind)
  }

  static var allValueStrings: [String] { ["auto"] + ValueKind.allValueStrings }
  static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

  init?(argument: String) {
    // The name may contain an equals sign, the type can't.
    let equals = argument.lastIndex(of: "=")
    name = equals.map { String(argument[..<$0]) }
    let type = equals.map { String(argument[argument.index(after: $0)...]) } ?? argument
    guard type != "auto" else {
      self.type = .auto
      return
    }
    guard let kind = ValueKind(argument: type) else { return nil }
    self.type = .kind(kind)
  }

  /// The types from all options together.
  struct Table {
    private var types: [[UInt8]: Said] = [:]
    private var others: Said?

    /// - Throws: `Failure` for a repeated option, or for a value that is not in the file.
    init(_ options: [TypeOfName], of names: [String]) throws {
      let known = Set(names.map { Array($0.utf8) })
      for option in options {
        guard let name = option.name else {
          guard others == nil else {
            throw Failure(.usage, "give only one --type for all values")
          }
          others = option.type
          continue
        }
        guard known.contains(Array(name.utf8)) else {
          throw Failure(.usage, "--type is given for a value that is not in the file", key: name)
        }
        guard types.updateValue(option.type, forKey: Array(name.utf8)) == nil else {
          throw Failure(.usage, "give only one --type for a value", key: name)
        }
      }
    }

    /// Whether an option gives the value a type.
    func names(_ name: String) -> Bool { types[Array(name.utf8)] != nil || others != nil }

    /// The value to store.
    ///
    /// - Throws: as `newValue` of a transaction.
    func value(
      _ given: GivenValue, _ name: String, _ transaction: StorageTransaction
    ) throws -> NewValue {
      switch types[Array(name.utf8)] ?? others {
      case nil: return try transaction.newValue(given, forKey: name, as: nil)
      case .kind(let kind): return try transaction.newValue(given, forKey: name, as: kind)
      case .auto:
        if let value = try given.asItIs(name) { return value }
        throw Failure(.malformedInput, "null is not a value", key: name)
      }
    }
  }
}
