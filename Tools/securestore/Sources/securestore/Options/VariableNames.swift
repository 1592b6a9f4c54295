internal import ArgumentParser

/// How a value's name becomes a variable's name.
enum VariableNames: String, CaseIterable, ExpressibleByArgument {
  case exact
  case underscore
  case upper

  /// The variable's name; nil if the value's name can't become one.
  ///
  /// The variable may control programs; see ``SteeringVariables``.
  func variable(of name: String) -> String? {
    var bytes = Array((self == .upper ? Self.capitals(name) : name).utf8)
    if self != .exact {
      bytes = bytes.map { Self.isLetter($0) || Self.isDigit($0) ? $0 : UInt8(ascii: "_") }
      if let first = bytes.first, Self.isDigit(first) { bytes.insert(UInt8(ascii: "_"), at: 0) }
    }
    let variable = String(decoding: bytes, as: UTF8.self)
    return Self.isVariable(variable) ? variable : nil
  }

  /// Whether the name is valid for a variable, in shells as well: IEEE Std 1003.1, section 8.1.
  static func isVariable(_ name: String) -> Bool {
    guard let first = name.utf8.first, !isDigit(first) else { return false }
    return name.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
  }

  private static func capitals(_ name: String) -> String {
    String(
      decoding: name.utf8.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }, as: UTF8.self)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x41...0x5A).contains(byte & 0xDF) && byte < 0x80
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

/// `VARIABLE=NAME`, which passes a value in a variable of another name.
struct NameForVariable: ExpressibleByArgument {
  let variable: String
  let name: String

  init?(argument: String) {
    guard let equals = argument.firstIndex(of: "=") else { return nil }
    variable = String(argument[..<equals])
    name = String(argument[argument.index(after: equals)...])
    guard VariableNames.isVariable(variable), !name.isEmpty else { return nil }
  }
}

/// `NUMBER=NAME`, which passes a value in a file descriptor.
struct NameForDescriptor: ExpressibleByArgument {
  let number: Int32
  let name: String

  init?(argument: String) {
    guard let equals = argument.firstIndex(of: "="), let number = Int32(argument[..<equals]),
      number == 0 || number > 2
    else { return nil }
    self.number = number
    name = String(argument[argument.index(after: equals)...])
    guard !name.isEmpty else { return nil }
  }
}
