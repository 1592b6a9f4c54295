/// A YAML scalar without quotes or a tag, and its value by the core schema of YAML 1.2.2, section
/// 10.3.2.
///
/// A number that readers of YAML take for different numbers, or for text, has no value: it is
/// refused unless the user asks for text.
struct PlainScalar {
  /// Its text, as the file has it.
  let text: String
  /// Its place in the file.
  let place: Place
  /// Its value, or why there is none.
  private(set) var value: Result<JSONValue, Failure>
  /// Whether it is text, but YAML 1.1 takes it for a truth value or a number.
  let isTextSince12: Bool

  /// A place in a file.
  struct Place: Hashable {
    let line: Int
    let column: Int
  }

  init(_ text: String, at place: Place) {
    self.text = text
    self.place = place
    let meaning = Meaning(text)
    isTextSince12 = if case .laterText = meaning { true } else { false }
    value =
      switch meaning {
      case .text, .laterText: .success(.string(text))
      case .json(let json): .success(json)
      case .refused(let reason):
        .failure(
          Failure(.malformedInput, "line \(place.line), column \(place.column): \(reason)"))
      }
  }

  /// Whether it is text in every version of YAML.
  var isText: Bool {
    if case .success(.string) = value { !isTextSince12 } else { false }
  }

  /// The scalar with the file's path and the value's name in its error.
  func located(in path: String, _ name: String) -> PlainScalar {
    var located = self
    located.value = value.mapError { failure in
      var failure = failure
      failure.key = name
      failure.path = path
      return failure
    }
    return located
  }

  private enum Meaning {
    case text
    /// Text in YAML 1.2, something else in YAML 1.1.
    case laterText
    case json(JSONValue)
    case refused(String)

    init(_ text: String) {
      self =
        switch text {
        case "", "~", "null", "Null", "NULL": .json(.null)
        case "true", "True", "TRUE": .json(.bool(true))
        case "false", "False", "FALSE": .json(.bool(false))
        case "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF":
          .laterText
        default: Self.number(text)
        }
    }

    private static func number(_ text: String) -> Meaning {
      let sign = text.hasPrefix("-") ? "-" : ""
      let body = text.first == "-" || text.first == "+" ? text.dropFirst() : text[...]
      if [".inf", ".Inf", ".INF"].contains(body) || [".nan", ".NaN", ".NAN"].contains(text) {
        return .refused("JSON has no infinity and no NaN")
      }
      guard let first = body.first, first.isASCIIDigit || first == "." else { return .text }
      if first == "0", let marker = body.dropFirst().first, "xob".contains(marker) {
        return radix(body, marker, isSigned: body.startIndex != text.startIndex)
      }
      if body.contains("_") {
        let plain = body.filter { $0 != "_" }
        return decimal(plain[...], "") == nil && !isSexagesimal(plain[...])
          ? .text : .refused(differing("a number with _"))
      }
      if isSexagesimal(body) { return .laterText }
      guard let number = decimal(body, sign) else { return .text }
      guard number.isUnambiguous else { return .refused(differing("a number that begins with 0")) }
      // In JSON's notation, the reader of JSON decides whether it is kept.
      guard let json = JSONValue(exactly: number.digits) else {
        return .refused("the number is too large or has too many digits; " + advice)
      }
      return .json(json)
    }

    private static let advice = "put it in quotes, or give --type string, if it is text"

    private static func differing(_ what: String) -> String {
      "readers of YAML differ on \(what); \(advice), or write a number in plain decimal digits"
    }

    /// A number after `0x`, `0o` or `0b`.
    private static func radix(
      _ body: Substring, _ marker: Character, isSigned: Bool
    ) -> Meaning {
      let digits = body.dropFirst(2)
      let radix = marker == "x" ? 16 : marker == "o" ? 8 : 2
      guard !digits.isEmpty,
        digits.allSatisfy({ $0 == "_" || Int(String($0), radix: radix) != nil && $0.isASCII })
      else { return .text }
      guard radix == 16, !isSigned, !digits.contains("_") else {
        return .refused(differing("a number after \(isSigned ? "a sign and " : "")0\(marker)"))
      }
      guard let value = UInt64(digits, radix: radix) else {
        return .refused("the number is too large; " + advice)
      }
      return .json(.number("\(value)"))
    }

    /// A decimal number in JSON's notation, or nil for text.
    private static func decimal(
      _ body: Substring, _ sign: String
    ) -> (digits: String, isUnambiguous: Bool)? {
      let whole = body.prefix { $0.isASCIIDigit }
      var rest = body.dropFirst(whole.count)
      var fraction = ""
      if rest.first == "." {
        let digits = rest.dropFirst().prefix { $0.isASCIIDigit }
        rest = rest.dropFirst(digits.count + 1)
        guard !whole.isEmpty || !digits.isEmpty else { return nil }
        fraction = digits.isEmpty ? ".0" : "." + digits
      }
      guard !whole.isEmpty || !fraction.isEmpty else { return nil }
      guard rest.isEmpty || isExponent(rest) else { return nil }
      let isUnambiguous = whole.count < 2 || whole.first != "0"
      return (sign + (whole.isEmpty ? "0" : whole) + fraction + rest, isUnambiguous)
    }

    private static func isExponent(_ text: Substring) -> Bool {
      guard text.first == "e" || text.first == "E" else { return false }
      var digits = text.dropFirst()
      if digits.first == "-" || digits.first == "+" { digits = digits.dropFirst() }
      return !digits.isEmpty && digits.allSatisfy(\.isASCIIDigit)
    }

    /// Whether YAML 1.1 takes it for a number with the base 60, such as 12:30.
    private static func isSexagesimal(_ body: Substring) -> Bool {
      var parts = body.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count > 1, let last = parts.popLast() else { return false }
      let whole = last.split(
        separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      guard whole.dropFirst().allSatisfy({ $0.allSatisfy(\.isASCIIDigit) }) else { return false }
      parts.append(whole[0])
      return parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isASCIIDigit) }
        && parts.dropFirst().allSatisfy { Int($0).map { $0 < 60 } ?? false }
    }
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
