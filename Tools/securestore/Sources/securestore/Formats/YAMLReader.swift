internal import Yams

/// Reads one document of YAML 1.2.
///
/// Yams parses the text. The types of scalars are those of the core schema, and a mapping gets the
/// members that a merge key `<<` names. The reader's errors give the position, and quote nothing
/// from the text.
struct YAMLReader {
  private static let depthLimit = 128
  /// The largest number of values: an alias repeats its whole anchor, so a few lines may stand for
  /// billions.
  private static let countLimit = 100_000
  /// What Yams calls a scalar without quotes and without a tag.
  private static let plain = Tag.Name(rawValue: "plain")

  /// The scalars that are text here, but not in YAML 1.1.
  private(set) var laterTexts: Set<PlainScalar.Place> = []
  private var count = 0
  private let document: StandIns

  /// Makes a reader of a text with one document.
  init(_ text: String) {
    document = StandIns(String(decoding: text.bytesWithoutMark, as: UTF8.self))
  }

  /// The value of the document.
  ///
  /// - Throws: `Failure` with the position where the text is not YAML, or has something that JSON
  ///   lacks.
  mutating func value() throws -> FileValue {
    try Self.requireVersion(document.text)
    try Self.requireNoMark(document.text)
    try Self.requireTextNames(document.text)
    return try Self.reading(document.text) { node in
      guard let node else { return .object([]) }
      return try value(node, depth: 0)
    }
  }

  /// Runs `body` with the document, in which each alias stands for the whole of its anchor; with nil
  /// if there is none.
  static func reading<Result>(_ text: String, _ body: (Node?) throws -> Result) throws -> Result {
    let parser: Parser
    let node: Node?
    do {
      let resolver = try Resolver.basic.appending(plain, "^")
      parser = try Parser(yaml: text, resolver: resolver, encoding: .utf8)
      node = try parser.singleRoot()
    } catch let error as YamlError {
      throw failure(error)
    }
    // The nodes have weak references to the anchors of the parser.
    return try withExtendedLifetime(parser) { try body(node) }
  }

  /// Counts a value, or a mapping that a merge key names.
  private mutating func enter(_ mark: Mark?, _ depth: Int) throws {
    count += 1
    guard depth < Self.depthLimit, count <= Self.countLimit else {
      throw Self.malformed(mark, "it has too many values, or they are nested too deep")
    }
  }

  private mutating func value(_ node: Node, depth: Int) throws -> FileValue {
    try enter(node.mark, depth)
    switch node {
    case .scalar(let scalar): return try value(scalar)
    case .sequence(let sequence):
      try Self.requireTag(.seq, of: node)
      var values: [JSONValue] = []
      for node in sequence { values.append(try value(node, depth: depth + 1).json()) }
      return .json(.array(values))
    case .mapping(let mapping):
      try Self.requireTag(.map, of: node)
      return .object(try members(mapping, depth))
    case .alias: throw Self.malformed(node.mark, "an alias has no anchor")
    }
  }

  private mutating func members(
    _ mapping: Node.Mapping, _ depth: Int
  ) throws -> [(String, FileValue)] {
    var members: [(String, FileValue)] = []
    var names = MemberNames(ofValues: depth == 0)
    var merged: Node?
    for (key, node) in mapping {
      guard case .scalar(let scalar) = key else {
        throw Self.malformed(key.mark, "a name is not text")
      }
      if try Self.isMerge(scalar) {
        guard merged == nil else { throw Self.malformed(key.mark, "a name occurs twice") }
        merged = node
        continue
      }
      let name = document.original(scalar.string)
      if let objection = names.add(name) { throw Self.malformed(key.mark, objection) }
      members.append((name, try value(node, depth: depth + 1)))
    }
    for mapping in try merged.map(Self.mappings) ?? [] {
      try enter(mapping.mark, depth + 1)
      for (name, value) in try self.members(mapping, depth + 1) {
        guard let objection = names.add(name) else {
          members.append((name, value))
          continue
        }
        guard objection == MemberNames.twice else { throw Self.malformed(mapping.mark, objection) }
      }
    }
    return members
  }

  /// Whether the name is the merge key: without quotes and a tag, or with the tag of merge keys.
  private static func isMerge(_ scalar: Node.Scalar) throws -> Bool {
    let isTagged = scalar.tag.rawValue == Tag.Name.merge.rawValue
    guard scalar.string == "<<" else {
      if isTagged { throw malformed(scalar.mark, "a value does not fit its tag") }
      return false
    }
    return isTagged || isPlain(scalar)
  }

  /// The mappings that a merge key names; the first one that has a name counts.
  private static func mappings(_ node: Node) throws -> [Node.Mapping] {
    let nodes = if case .sequence(let sequence) = node { Array(sequence) } else { [node] }
    return try nodes.map { node in
      guard case .mapping(let mapping) = node else {
        throw malformed(node.mark, "<< merges a mapping or a list of mappings, and this is neither")
      }
      return mapping
    }
  }

  // MARK: - Scalars

  private static func isPlain(_ scalar: Node.Scalar) -> Bool {
    scalar.tag.rawValue.isEmpty || scalar.tag.rawValue == plain.rawValue
  }

  private mutating func value(_ scalar: Node.Scalar) throws -> FileValue {
    let place = PlainScalar.Place(
      line: scalar.mark?.line ?? 0, column: scalar.mark?.column ?? 0)
    let text = document.original(scalar.string)
    let plain = PlainScalar(text, at: place)
    guard Self.isPlain(scalar) else { return .json(try Self.tagged(scalar, plain)) }
    if plain.isTextSince12 { laterTexts.insert(place) }
    return plain.isText ? .json(.string(text)) : .plain(plain)
  }

  /// The value of a scalar in quotes or with a tag.
  private static func tagged(_ scalar: Node.Scalar, _ plain: PlainScalar) throws -> JSONValue {
    let tag = Tag.Name(rawValue: scalar.tag.rawValue)
    // The tag ! alone makes a scalar text: YAML 1.2.2, section 6.9.1.
    guard ![.str, .nonSpecific].contains(tag) else { return .string(plain.text) }
    guard [.int, .float, .bool, .null].contains(tag) else {
      throw malformed(
        scalar.mark,
        EncodedText.tool(of: scalar.string)
          .map { "a value is still encrypted by \($0.name); \($0.advice)" }
          ?? "a value has a tag that is not known here")
    }
    switch (tag, try plain.value.get()) {
    case (.null, .null): return .null
    case (.bool, .bool(let value)): return .bool(value)
    case (.int, .number(let digits)) where !digits.contains(where: { ".eE".contains($0) }):
      return .number(digits)
    case (.float, .number(let digits)):
      return .number(digits.contains(where: { ".eE".contains($0) }) ? digits : digits + ".0")
    default: throw malformed(scalar.mark, "a value does not fit its tag")
    }
  }

  private static func requireTag(_ tag: Tag.Name, of node: Node) throws {
    guard [tag.rawValue, Tag.Name.nonSpecific.rawValue].contains(node.tag.rawValue) else {
      throw malformed(node.mark, "a list or a mapping has a tag that is not known here")
    }
  }

  // MARK: - Errors

  static func malformed(_ mark: Mark?, _ what: String) -> Failure {
    let place = mark.map { "line \($0.line), column \($0.column): " } ?? ""
    return Failure(.malformedInput, place + what)
  }

  private static func failure(_ error: YamlError) -> Failure {
    switch error {
    // The problem is one of libyaml's own texts, which quote nothing from the input.
    case .composer(_, "but found another document", let mark, _):
      malformed(mark, "a second document begins; import each document from a file of its own")
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      malformed(mark, "it is not YAML: \(problem)")
    case .duplicatedKeysInMapping(_, let context):
      malformed(
        context.mark,
        "a name occurs twice, or an escape makes it one that differs only in the encoding of its accents; "
          + "write the accents themselves")
    default: Failure(.malformedInput, "it is not YAML")
    }
  }
}
