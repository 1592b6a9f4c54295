/// Which records were replaced or removed, as far as this process has seen it.
///
/// Each seal of a record has a nonce of its own, so no record comes back by itself: one that does was
/// put back by somebody who can write to the engine.
struct PastRecords: Sendable {
  /// How many records are remembered.
  private static let limit = 65_536
  /// A shorter record is no sealed one.
  private static let shortest = 48
  /// The ends of the records, which are parts of their tags, from the oldest on.
  private(set) var all: [UInt64] = []
  private var set: Set<UInt64> = []

  init() {}

  /// What a copy has kept.
  init(_ all: some Sequence<UInt64>) { for one in all { insert(one) } }

  /// Remembers a record that is no longer current.
  mutating func add(_ record: some Collection<UInt8>) {
    guard let end = Self.end(of: record) else { return }
    insert(end)
  }

  private mutating func insert(_ end: UInt64) {
    guard set.insert(end).inserted else { return }
    all.append(end)
    guard all.count > Self.limit else { return }
    // Half at a time: the first element of an array is removed by moving all others.
    for old in all.prefix(Self.limit / 2) { set.remove(old) }
    all.removeFirst(Self.limit / 2)
  }

  /// Whether a record was current once, and then no longer.
  func contains(_ record: some Collection<UInt8>) -> Bool {
    guard !set.isEmpty, let end = Self.end(of: record) else { return false }
    return set.contains(end)
  }

  private static func end(of record: some Collection<UInt8>) -> UInt64? {
    guard record.count >= shortest else { return nil }
    return record.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
