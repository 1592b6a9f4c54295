internal import Yams

/// What is refused before the document is read.
extension YAMLReader {
  /// Refuses what the parser would read by the rules of YAML 1.1.
  static func requireVersion(_ text: String) throws {
    var line = 1
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": line += 1
      case "\u{85}", "\u{2028}", "\u{2029}":
        throw Failure(
          .malformedInput,
          "line \(line): the character U+\(String(scalar.value, radix: 16)) ends a line in YAML 1.1 and "
            + "not in YAML 1.2; write it as an escape between double quotes")
      default: break
      }
    }
    // Directives, comments and empty lines come before the document: YAML 1.2.2, section 9.1.
    for line in text.split(whereSeparator: \.isNewline) {
      let words = line.split { $0 == " " || $0 == "\t" }
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      guard line.hasPrefix("%") else { return }
      guard first == "%YAML" else { continue }
      let isOnlyOne = words.count < 3 || words[2].hasPrefix("#")
      guard words.count > 1, words[1] == "1.2", isOnlyOne else {
        throw Failure(
          .malformedInput,
          "the %YAML directive names another version than 1.2, which this program reads; remove it if "
            + "no value depends on it")
      }
    }
  }

  /// Refuses an escaped U+FEFF at the start of a text between double quotes, where the parser drops it.
  static func requireNoMark(_ text: String) throws {
    let mark = /(?:^|[^\\])(?:\\\\)*"(?:\\\r?\n[ \t]*)*\\(?:u|U0000)[fF][eE][fF][fF]/
      .matchingSemantics(.unicodeScalar)
    guard text.contains("\\"), let found = text.firstMatch(of: mark) else { return }
    let line = text[..<found.range.upperBound].unicodeScalars.count { $0 == "\n" } + 1
    throw Failure(
      .malformedInput,
      "line \(line): a text that begins with U+FEFF can't be read from YAML; put it into a JSON file"
    )
  }

  /// Refuses names that are lists or mappings, while each alias is still one word.
  ///
  /// The parser hashes the names of each mapping. A list of a few lines whose parts are aliases of
  /// lists would keep it busy for ever.
  static func requireTextNames(_ text: String) throws {
    guard text.utf8.contains(UInt8(ascii: "*")) else { return }
    // A character for private use, of which no indicator of YAML is made, turns an alias into text,
    // and leaves every place in the file as it is.
    let stand: Unicode.Scalar = "\u{E000}"
    var scalars = String.UnicodeScalarView()
    scalars.append(contentsOf: text.unicodeScalars.map { $0 == "*" ? stand : $0 })
    try reading(String(scalars)) { node in
      if let node { try requireTextNames(in: node, aliasesBeginWith: stand) }
    }
  }

  private static func requireTextNames(
    in root: Node, aliasesBeginWith stand: Unicode.Scalar
  ) throws {
    var names: [Node] = []
    var anchors: Set<String> = []
    var rest = [root]
    while let node = rest.popLast() {
      switch node {
      case .scalar, .alias: continue
      case .sequence(let sequence): rest += sequence
      case .mapping(let mapping):
        names += mapping.map(\.key)
        rest += mapping.map(\.value)
      }
      if let anchor = node.anchor { anchors.insert(anchor.rawValue) }
    }
    for name in names {
      guard case .scalar(let scalar) = name,
        scalar.string.unicodeScalars.first != stand
          || !anchors.contains(String(scalar.string.unicodeScalars.dropFirst()))
      else { throw malformed(name.mark, "a name is not text") }
    }
  }
}
