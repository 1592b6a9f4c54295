internal import CryptoCore

/// Which records were replaced or removed, as far as this process has seen it.
///
/// Each seal of a record has a nonce of its own, so no record comes back by itself: one that does was
/// put back by somebody who can write to the engine.
struct PastRecords: Sendable {
  /// How many records of one name are remembered, and how many of all names.
  ///
  /// So a counter that changes all the time does not make it forget an old password.
  private static let limits = (name: 512, all: 65_536)
  /// A shorter record is no sealed one: it has no room for a nonce and a tag.
  private static let shortest = 28
  /// The ends of the records, which are parts of their tags, from the oldest on; by the first words
  /// of the names.
  private var ends: [UInt64: [UInt64]] = [:]
  private var count = 0

  init() {}

  /// What ``all`` gave.
  init(_ all: some Collection<UInt64>) {
    var rest = all[...]
    while let name = rest.popFirst(), let count = rest.popFirst(), count <= rest.count {
      for end in rest.prefix(Int(count)) { insert(end, of: name) }
      rest = rest.dropFirst(Int(count))
    }
  }

  /// All that is remembered: for each name its first word, the number of its records, and their ends.
  var all: [UInt64] { ends.flatMap { [$0.key, UInt64($0.value.count)] + $0.value } }

  /// Remembers a record that is no longer current.
  mutating func add(_ record: some Collection<UInt8>, of name: NameHash) {
    guard let end = Self.end(of: record) else { return }
    insert(end, of: name.firstWord)
  }

  /// Remembers what another process of this machine does.
  mutating func add(_ other: PastRecords) {
    for (name, ends) in other.ends { for end in ends { insert(end, of: name) } }
  }

  private mutating func insert(_ end: UInt64, of name: UInt64) {
    guard ends[name]?.contains(end) != true else { return }
    ends[name, default: []].append(end)
    count += 1
    if ends[name]!.count > Self.limits.name { keep(Self.limits.name / 2, of: name) }
    if count > Self.limits.all { forgetSome() }
  }

  private mutating func keep(_ most: Int, of name: UInt64) {
    guard let all = ends[name], all.count > most else { return }
    count -= all.count - most
    ends[name] = most == 0 ? nil : Array(all.suffix(most))
  }

  /// Forgets a quarter, and first of the names that have the most.
  private mutating func forgetSome() {
    let most = Self.limits.all / 4 * 3
    var share = Self.limits.name
    while count > most, share > 1 {
      share /= 2
      for name in Array(ends.keys) { keep(share, of: name) }
    }
    for name in Array(ends.keys) where count > most { keep(0, of: name) }
  }

  /// Whether a record was current once, and then no longer.
  func contains(_ record: some Collection<UInt8>, of name: NameHash) -> Bool {
    guard let ends = ends[name.firstWord], let end = Self.end(of: record) else { return false }
    return ends.contains(end)
  }

  private static func end(of record: some Collection<UInt8>) -> UInt64? {
    guard record.count >= shortest else { return nil }
    return record.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
