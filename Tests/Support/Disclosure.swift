private import Foundation

/// What the ways of showing a value in Swift reveal of a secret in it.
package enum Disclosure {
  /// Everything that `print`, `dump`, string interpolation and `Mirror` say about a value.
  package static func texts(of value: Any) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    var printed = ""
    print(value, to: &printed)
    var debugged = ""
    debugPrint(value, to: &debugged)
    var mirrored: [String] = []
    var seen: Set<ObjectIdentifier> = []
    walk(Mirror(reflecting: value), depth: 0, past: &seen, into: &mirrored)
    return [dumped, printed, debugged, String(reflecting: value), String(describing: value)]
      + mirrored
  }

  private static func walk(
    _ mirror: Mirror, depth: Int, past seen: inout Set<ObjectIdentifier>,
    into texts: inout [String]
  ) {
    guard depth < 12 else { return }
    var contents: [String] = []
    for child in mirror.children {
      contents.append(String(describing: child.value))
      texts.append("\(child.label ?? "") = \(String(reflecting: child.value))")
      // An object once: some lead back to one another.
      if type(of: child.value) is AnyClass,
        !seen.insert(ObjectIdentifier(child.value as AnyObject)).inserted
      {
        continue
      }
      walk(Mirror(reflecting: child.value), depth: depth + 1, past: &seen, into: &texts)
    }
    // Side by side, as the elements of an array would be.
    texts.append(contents.joined(separator: ", "))
    if let parent = mirror.superclassMirror {
      walk(parent, depth: depth + 1, past: &seen, into: &texts)
    }
  }

  /// The form in which a text gives away some bytes of a secret, or nil when it gives away none.
  ///
  /// Four bytes in a row count as given away, three in a list of numbers. A secret of printable
  /// characters is looked for as text too.
  package static func form(of secret: [UInt8], in text: String) -> String? {
    let lower = text.lowercased()
    for start in 0...(secret.count - 4) {
      let bytes = Array(secret[start..<start + 4])
      if lower.contains(bytes.hex) { return "hexadecimal" }
      if lower.contains(bytes.map { [$0].hex }.joined(separator: " ")) {
        return "spaced hexadecimal"
      }
      if lower.contains(bytes.map { "0x" + [$0].hex }.joined(separator: ", ")) { return "0x list" }
      let numbers = bytes.prefix(3).map { String($0) }
      if text.contains(numbers.joined(separator: ", ")) { return "list of numbers" }
      if text.contains(numbers.joined(separator: ",")) { return "dense list of numbers" }
      if text.contains(String(decoding: bytes, as: UTF8.self)) { return "text" }
    }
    // Base64 packs three bytes into four digits; a run of the secret begins at any of them.
    for start in 0..<3 {
      let digits = Data(secret[start...]).base64EncodedString().prefix(8)
      if text.contains(digits) { return "base64" }
    }
    return nil
  }

  /// The forms in which the ways of showing `value` give away some bytes of `secret`.
  package static func forms(of secret: [UInt8], in value: Any) -> Set<String> {
    Set(texts(of: value).compactMap { form(of: secret, in: $0) })
  }
  /// Whether a text has eight bytes in a row of a secret, in any form.
  ///
  /// For what shows addresses, hashes and ciphertext as well: fewer occur there by chance.
  package static func shows(_ secret: [UInt8], in text: String) -> Bool {
    let lower = text.lowercased()
    return (0...secret.count - 8).contains { start in
      let run = Array(secret[start..<start + 8])
      return text.contains(String(decoding: run, as: UTF8.self)) || lower.contains(run.hex)
        || text.contains(run.map(String.init).joined(separator: ", "))
        || text.contains(Data(run.prefix(6)).base64EncodedString())
    }
  }
}
