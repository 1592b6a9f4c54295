internal import Yams

/// Reads YAML 1.1, as Yams parses it, into JSON values.
///
/// Its errors give the position, and quote nothing from the text.
enum YAMLReader {
  private static let depthLimit = 128
  /// The largest number of values: an alias repeats its whole anchor, so a few lines may stand for billions.
  private static let countLimit = 100_000

  /// The value of a text with one document.
  ///
  /// - Throws: `Failure` with the position where the text is not YAML, or has something that JSON lacks.
  static func value(of text: String) throws -> JSONValue {
    let node: Node?
    do {
      node = try Yams.compose(yaml: text)
    } catch let error as YamlError {
      throw failure(error)
    }
    guard let node else { return .object([]) }
    var count = 0
    return try value(node, depth: 0, &count)
  }

  private static func value(_ node: Node, depth: Int, _ count: inout Int) throws -> JSONValue {
    count += 1
    guard depth < depthLimit, count <= countLimit else {
      throw malformed(node.mark, "it has too many values, or they are nested too deep")
    }
    switch node {
    case .scalar(let scalar): return try value(scalar, node)
    case .sequence(let sequence):
      var values: [JSONValue] = []
      for node in sequence { values.append(try value(node, depth: depth + 1, &count)) }
      return .array(values)
    case .mapping(let mapping):
      var members: [(String, JSONValue)] = []
      var names: Set<String> = []
      for (key, node) in mapping {
        guard case .scalar(let scalar) = key else {
          throw malformed(key.mark, "a name is not text")
        }
        guard names.insert(scalar.string).inserted else {
          throw malformed(key.mark, "a name occurs twice")
        }
        members.append((scalar.string, try value(node, depth: depth + 1, &count)))
      }
      return .object(members)
    case .alias: throw malformed(node.mark, "an alias has no anchor")
    }
  }

  private static func value(_ scalar: Node.Scalar, _ node: Node) throws -> JSONValue {
    switch Tag.Name(rawValue: node.tag.description) {
    case .null: return .null
    case .bool:
      guard let value = Bool.construct(from: scalar) else { break }
      return .bool(value)
    case .int, .float:
      // Only numbers in JSON's notation are accepted: not 0x1F, 0o17, 1_000 or 190:20:30.
      guard let json = JSONValue(exactly: scalar.string), case .number = json else {
        throw malformed(
          scalar.mark,
          "a number is not in JSON's notation; write it in decimal digits, or in quotes as text")
      }
      return json
    case .str, .timestamp, .implicit: return .string(scalar.string)
    default: break
    }
    throw malformed(scalar.mark, "a value has an unsupported tag")
  }

  private static func malformed(_ mark: Mark?, _ what: String) -> Failure {
    let place = mark.map { "line \($0.line), column \($0.column): " } ?? ""
    return Failure(.malformedInput, place + what)
  }

  private static func failure(_ error: YamlError) -> Failure {
    switch error {
    // The problem is one of libyaml's own texts, which quote nothing from the input.
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      malformed(mark, "it is not YAML: \(problem)")
    case .duplicatedKeysInMapping: Failure(.malformedInput, "a name occurs twice")
    default: Failure(.malformedInput, "it is not YAML")
    }
  }
}
