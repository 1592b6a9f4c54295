internal import CryptoCore
internal import StorageCore

/// Decides which rows of a broken file are the ones that were written last.
///
/// A row may be old: its name was written again or removed since. An attacker may have put old rows
/// anywhere, with any sequence number, even where the tree leads to them. The manifest has a sum
/// for each bucket that only one set of records gives. If the sum agrees, the choice is proven;
/// otherwise the greater number counts.
struct RowChoice {
  /// A record that was found.
  struct Candidate {
    let name: NameHash
    let sequence: Int64
    /// What it adds to the sum of its bucket.
    let share: UInt64
    /// Nil for a record that does not open.
    let clearName: String?
    /// Its place on a page; nil for the record that was taken for the name already.
    let row: PageWalker.Row?

    private var isFree: Bool { row?.isFree ?? false }

    /// Whether it is the likelier of two candidates for a name.
    func precedes(_ other: Candidate) -> Bool {
      if isFree != other.isFree { return !isFree }
      if (clearName == nil) != (other.clearName == nil) { return clearName != nil }
      if sequence != other.sequence { return sequence > other.sequence }
      return row == nil && other.row != nil
    }

    /// Whether it can be taken although nothing proves it.
    ///
    /// Its page is in use, and its name was not removed after it was written. What was taken
    /// already stays.
    func isLikely(removedAt removal: Int64?) -> Bool {
      guard row != nil else { return true }
      return !isFree && sequence > removal ?? .min
    }
  }

  /// What is taken for a name.
  struct Settled {
    let name: NameHash
    /// Nil when no record is taken or kept.
    let candidate: Candidate?
    let isProven: Bool
  }

  /// What records add to a bucket.
  private struct Sum: Hashable {
    var count = 0
    var sum: UInt64 = 0

    static func - (left: Sum, right: Sum) -> Sum {
      Sum(count: left.count &- right.count, sum: left.sum &- right.sum)
    }
  }

  /// Another choice for one name, perhaps none, and what the exchange adds to the sum.
  private struct Change {
    let name: Int
    let option: Int?
    let sum: Sum
  }

  private var names: [NameKey: [Candidate]] = [:]
  private var removals: [NameKey: Int64] = [:]

  /// Whether a candidate of a name has this share, and so is the same record.
  func has(_ share: UInt64, of name: NameHash) -> Bool {
    names[NameKey(name)]?.contains { $0.share == share } ?? false
  }

  mutating func add(_ candidate: Candidate) {
    names[NameKey(candidate.name), default: []].append(candidate)
  }

  /// Notes that a name was removed, if the page is in use.
  mutating func add(removal row: PageWalker.Row) {
    guard !row.isFree else { return }
    removals[NameKey(row.name)] = max(removals[NameKey(row.name)] ?? .min, row.sequence)
  }

  /// What to take for each name.
  ///
  /// - Parameters:
  ///   - told: the stored manifest, or nil if it can't be read.
  ///   - isTakenPreferred: whether the record that was taken already stays if nothing is proven;
  ///     otherwise the greater number counts.
  /// - Returns: one choice for each name.
  func settled(by told: Manifest?, preferringTaken isTakenPreferred: Bool) -> [Settled] {
    var settled: [Settled] = []
    for (bucket, names) in buckets {
      let options = names.map { candidates in candidates.sorted { $0.precedes($1) } }
      let taken = options.map { $0.firstIndex { $0.row == nil } }
      let likely = options.map { likelyChoice(of: $0) }
      let choices = isTakenPreferred ? [taken, likely] : [likely, taken]
      let target = told.map {
        Sum(count: Int($0.buckets[bucket].count), sum: $0.buckets[bucket].sum)
      }
      let proven = target.flatMap { Self.proven($0, options, choices) }
      for (index, option) in (proven ?? choices[0]).enumerated() {
        settled.append(
          Settled(
            name: options[index][0].name, candidate: option.map { options[index][$0] },
            isProven: proven != nil))
      }
    }
    return settled
  }

  private var buckets: [(bucket: Int, names: [[Candidate]])] {
    let sorted = names.sorted { Self.isOrdered($0.key.name, $1.key.name) }
    var buckets: [(bucket: Int, names: [[Candidate]])] = []
    for (key, candidates) in sorted {
      let bucket = Manifest.bucket(of: key.name)
      if buckets.last?.bucket != bucket { buckets.append((bucket, [])) }
      buckets[buckets.count - 1].names.append(candidates)
    }
    return buckets
  }

  private static func isOrdered(_ left: NameHash, _ right: NameHash) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }

  private func likelyChoice(of sorted: [Candidate]) -> Int? {
    let removal = sorted.first.flatMap { removals[NameKey($0.name)] }
    return sorted.firstIndex { $0.isLikely(removedAt: removal) }
  }

  /// The choice that gives the manifest's sum, if it is one of `choices` or differs from one of
  /// them in at most two names.
  private static func proven(
    _ target: Sum, _ options: [[Candidate]], _ choices: [[Int?]]
  ) -> [Int?]? {
    let missing = choices.map { choice in
      choice.enumerated().reduce(target) { $0 - sum(of: $1.element, options[$1.offset]) }
    }
    if let index = missing.firstIndex(of: Sum()) { return choices[index] }
    for (choice, missing) in zip(choices, missing) {
      guard let changes = changes(adding: missing, to: choice, options) else { continue }
      var choice = choice
      for change in changes { choice[change.name] = change.option }
      return choice
    }
    return nil
  }

  /// One or two changes that add `missing`; nil when there are none.
  private static func changes(
    adding missing: Sum, to choice: [Int?], _ options: [[Candidate]]
  ) -> [Change]? {
    var earlier: [Sum: Change] = [:]
    for (name, candidates) in options.enumerated() {
      let before = sum(of: choice[name], candidates)
      for option in candidates.indices.map(Optional.some) + [nil] where option != choice[name] {
        let change = Change(
          name: name, option: option, sum: sum(of: option, candidates) - before)
        if change.sum == missing { return [change] }
        if let other = earlier[missing - change.sum], other.name != name { return [other, change] }
        earlier[change.sum] = change
      }
    }
    return nil
  }

  private static func sum(of option: Int?, _ candidates: [Candidate]) -> Sum {
    option.map { Sum(count: 1, sum: candidates[$0].share) } ?? Sum()
  }
}
