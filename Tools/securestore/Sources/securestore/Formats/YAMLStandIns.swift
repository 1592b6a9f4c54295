/// A text for Yams in which characters that it or Swift may take for others are replaced.
///
/// Yams looks for a name that occurs twice by Swift's `==`, for which `é` as one scalar and as two are
/// equal, and it drops a byte order mark at the beginning of a text. Here both are parts of names. So each
/// scalar behind ASCII, and each escape of one, becomes one of private use, which equals nothing but
/// itself and leaves every place in the text as it is.
struct YAMLStandIns {
  /// The text to be parsed.
  let text: String
  /// A scalar that the text does not have.
  let spare: Unicode.Scalar
  private let originals: [Unicode.Scalar: Unicode.Scalar]
  /// What stood where an escape stands now, for those in a text that has no escapes.
  private let spellings: [Substring: Substring]

  private static var escape: Regex<Substring> {
    #/\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})/#.matchingSemantics(.unicodeScalar)
  }

  /// - Throws: `Failure` for a text with more different characters than there are for private use.
  init(_ text: String) throws {
    guard text.utf8.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "\\") }) else {
      (self.text, spare, originals, spellings) = (text, "\u{E000}", [:], [:])
      return
    }
    let spelled = Set(text.matches(of: Self.escape).map { $0.output })
    var free = PrivateUse(taken: Set(spelled.compactMap { Self.value(of: $0) }))
    spare = try free.next()
    var originals: [Unicode.Scalar: Unicode.Scalar] = [:]
    var spellings: [Substring: Substring] = [:]
    var escapes: [Substring: Substring] = [:]
    for escape in spelled.sorted() {
      guard let value = Self.value(of: escape), let scalar = Unicode.Scalar(value), value >= 0x80
      else { continue }
      let standIn = try free.next()
      // Four digits hold the first 6,400.
      let digits = String(standIn.value, radix: 16)
      guard digits.count <= escape.count - 2 else {
        throw Failure(.malformedInput, "it has too many different escapes")
      }
      let padding = String(repeating: "0", count: escape.count - 2 - digits.count)
      let other = Substring(escape.prefix(2) + padding + digits)
      (originals[standIn], spellings[other], escapes[escape]) = (scalar, escape, other)
    }
    var standIns: [Unicode.Scalar: Unicode.Scalar] = [:]
    var scalars = String.UnicodeScalarView()
    for scalar in text.replacing(Self.escape, with: { escapes[$0.output] ?? $0.output })
      .unicodeScalars
    {
      guard Self.isReplaced(scalar) else {
        scalars.append(scalar)
        continue
      }
      if standIns[scalar] == nil {
        let standIn = try free.next()
        (standIns[scalar], originals[standIn]) = (standIn, scalar)
      }
      scalars.append(standIns[scalar]!)
    }
    (self.text, self.originals, self.spellings) = (String(scalars), originals, spellings)
  }

  /// What a part of the parsed text was before.
  func original(_ part: String) -> String {
    var part = part
    if part.utf8.contains(UInt8(ascii: "\\")) {
      part = part.replacing(Self.escape) { spellings[$0.output] ?? $0.output }
    }
    guard part.utf8.contains(where: { $0 >= 0x80 }) else { return part }
    var scalars = String.UnicodeScalarView()
    scalars.append(contentsOf: part.unicodeScalars.map { originals[$0] ?? $0 })
    return String(scalars)
  }

  private static func value(of escape: Substring) -> UInt32? {
    UInt32(escape.dropFirst(2), radix: 16)
  }

  /// What YAML calls printable, behind ASCII; a byte order mark stays, for it may mean one.
  private static func isReplaced(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0xA0...0xD7FF, 0xE000...0xFEFE, 0xFF00...0xFFFD, 0x1_0000...0x10_FFFF: true
    default: false
    }
  }

  /// The scalars for private use, without some.
  private struct PrivateUse {
    let taken: Set<UInt32>
    private var last: UInt32 = 0xDFFF

    init(taken: Set<UInt32>) { self.taken = taken }

    mutating func next() throws -> Unicode.Scalar {
      repeat {
        last += 1
        if last == 0xF900 { last = 0xF_0000 }
        if last == 0xF_FFFE { last = 0x10_0000 }
      } while taken.contains(last)
      guard let scalar = Unicode.Scalar(last), last < 0x10_FFFE else {
        throw Failure(.malformedInput, "it has too many different characters")
      }
      return scalar
    }
  }
}
