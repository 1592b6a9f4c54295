/// The names of one object or mapping of a file, each of which may occur once.
///
/// Names of values are compared by their bytes, as stores compare them, in every format. Names
/// inside a value must also differ as Swift compares them: a program that decodes the value takes é
/// and e with a combining accent for the same name.
struct MemberNames {
  private let areOfValues: Bool
  private var bytes: Set<[UInt8]> = []
  private var texts: Set<String> = []

  /// The objection to a name that occurred before.
  static let twice = "a name occurs twice"

  init(ofValues: Bool) { areOfValues = ofValues }

  /// Adds a name.
  ///
  /// - Returns: why it can't be added; nil if it was.
  mutating func add(_ name: String) -> String? {
    guard bytes.insert(Array(name.utf8)).inserted else { return Self.twice }
    guard areOfValues || texts.insert(name).inserted else {
      return "two names differ only in the encoding of their accents"
    }
    return nil
  }
}
