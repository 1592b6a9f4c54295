internal import CryptoCore
internal import Glibc

/// The names that transactions used lately, with their hashes.
///
/// A transaction is often about the names of the one before it, and to hash them anew would take a
/// seventh of its time.
final class RecentNames: Sendable {
  /// How many are kept, half a kilobyte each.
  private static let limit = 2048
  private let names = Lock<[NameBytes: RecordName]>([:])

  /// All of them.
  var all: [NameBytes: RecordName] { names.withLock { $0 } }

  /// Adds names; where there are too many, all others are forgotten.
  func add(_ new: [RecordName]) {
    names.withLock { names in
      for name in new.prefix(Self.limit) {
        if names.count == Self.limit { names = [:] }
        names[NameBytes(text: name.text)] = name
      }
    }
  }
}

/// A name, compared by its bytes: `String` compares without regard to normalisation.
struct NameBytes: Hashable {
  let text: String

  static func == (left: NameBytes, right: NameBytes) -> Bool {
    var (left, right) = (left.text, right.text)
    // Not element by element, as the views or `elementsEqual(_:)` would.
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
