/// A text in which a character for private use stands for each character beyond U+00BF.
///
/// Yams compares names as Swift does, by which é and e with a combining accent are one name. A
/// character for private use equals itself alone. Every place in the text stays as it is.
struct StandIns {
  /// The text with the characters that stand for others.
  let text: String
  private let originals: [Unicode.Scalar: Unicode.Scalar]

  init(_ text: String) {
    let known = Set(text.unicodeScalars)
    var free = Self.privateScalars.lazy.filter { !known.contains($0) }.makeIterator()
    var stands: [Unicode.Scalar: Unicode.Scalar] = [:]
    for scalar in known where Self.isReplaced(scalar) {
      guard let stand = free.next() else { break }
      stands[scalar] = stand
    }
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { scalars.append(stands[scalar] ?? scalar) }
    self.text = stands.isEmpty ? text : String(scalars)
    originals = Dictionary(uniqueKeysWithValues: stands.map { ($1, $0) })
  }

  /// The text of a part of the document, as the file has it.
  func original(_ part: String) -> String {
    guard !originals.isEmpty else { return part }
    var scalars = String.UnicodeScalarView()
    for scalar in part.unicodeScalars { scalars.append(originals[scalar] ?? scalar) }
    return String(scalars)
  }

  /// Whether the character may be a part of what Swift takes for another text, and the parser gives
  /// no meaning to it.
  private static func isReplaced(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .privateUse, .unassigned, .lineSeparator, .paragraphSeparator, .format: false
    default: scalar.value >= 0xC0
    }
  }

  private static var privateScalars: some Sequence<Unicode.Scalar> {
    let ranges: [ClosedRange<UInt32>] = [0xE001...0xF8FF, 0xF0000...0xFFFFD, 0x100000...0x10FFFD]
    return ranges.lazy.joined().compactMap { Unicode.Scalar($0) }
  }
}
