internal import Glibc

/// A name or a path, compared by its bytes.
///
/// `String` comparison ignores normalisation: the two forms of "é" are equal, but they name two
/// values and two files.
package struct ExactString: Hashable, Sendable {
  /// The text.
  package let text: String

  /// The text, to be compared.
  package init(text: String) { self.text = text }

  /// Whether the bytes are the same.
  package static func == (left: ExactString, right: ExactString) -> Bool {
    var (left, right) = (left.text, right.text)
    // memcmp compares whole blocks; the views and `elementsEqual(_:)` compare byte by byte.
    return left.withUTF8 { left in
      right.withUTF8 { right in
        guard left.count == right.count, let start = left.baseAddress,
          let other = right.baseAddress
        else { return left.count == right.count }
        return unsafe memcmp(start, other, left.count) == 0
      }
    }
  }

  /// Feeds the bytes.
  package func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
