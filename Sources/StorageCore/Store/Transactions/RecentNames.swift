internal import CryptoCore

/// The names that recent transactions used, with their hashes.
///
/// A transaction often uses the same names as the one before it. Hashing them again would take a
/// seventh of the transaction's time.
final class RecentNames: Sendable {
  /// How many names are kept; each takes about half a kilobyte.
  private static let limit = 2048
  private let names = Lock<[ExactString: RecordName]>([:])

  /// All recent names.
  var all: [ExactString: RecordName] { names.withLock { $0 } }

  /// Adds names; when the limit is reached, all earlier names are dropped.
  func add(_ new: [RecordName]) {
    names.withLock { names in
      for name in new.prefix(Self.limit) {
        if names.count == Self.limit { names = [:] }
        names[ExactString(text: name.text)] = name
      }
    }
  }
}
