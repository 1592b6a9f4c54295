internal import CryptoCore
internal import Glibc

/// The names that recent transactions used, with their hashes.
///
/// A transaction often uses the same names as the one before it. Hashing them again would take a
/// seventh of the transaction's time.
final class RecentNames: Sendable {
  /// How many names are kept; each takes about half a kilobyte.
  private static let limit = 2048
  private let names = Lock<[NameBytes: RecordName]>([:])

  /// All recent names.
  var all: [NameBytes: RecordName] { names.withLock { $0 } }

  /// Adds names; when the limit is reached, all earlier names are dropped.
  func add(_ new: [RecordName]) {
    names.withLock { names in
      for name in new.prefix(Self.limit) {
        if names.count == Self.limit { names = [:] }
        names[NameBytes(text: name.text)] = name
      }
    }
  }
}

/// A name, compared by its bytes, because `String` comparison ignores normalisation.
struct NameBytes: Hashable {
  let text: String

  static func == (left: NameBytes, right: NameBytes) -> Bool {
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

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
