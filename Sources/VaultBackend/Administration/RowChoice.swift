internal import CryptoCore
internal import StorageCore

/// Decides which of the rows that pages were searched for are the ones that were written last.
///
/// A row on a page may be an old one: of a name that was written anew since, or removed. Who wrote the file
/// may have put old ones there, with any sequence number. The manifest has a sum for each bucket that only
/// one set of records gives; where it agrees the choice is proven, and elsewhere the greater number counts.
struct RowChoice {
  /// A record that was found on a page.
  struct Candidate {
    let row: PageWalker.Row
    let name: NameHash
    /// What it adds to the sum of its bucket.
    let share: UInt64
    let opens: Bool

    /// Whether it is the likelier one of two of a name.
    func precedes(_ other: Candidate) -> Bool {
      if row.isFree != other.row.isFree { return !row.isFree }
      if opens != other.opens { return opens }
      return row.sequence > other.row.sequence
    }
  }

  /// What is known of a bucket without the candidates.
  struct Sum {
    var count = 0
    var sum: UInt64 = 0
  }

  /// One candidate of a name, or none, in the place of what is taken first.
  private struct Change {
    let name: Int
    let option: Int?
    let count: Int
    let sum: UInt64
  }

  /// How many pairs of changes are tried for a bucket.
  private static let attempts = 4096

  private var names: [NameKey: [Candidate]] = [:]
  private var removals: [NameKey: Int64] = [:]

  /// Whether nothing was found.
  var isEmpty: Bool { names.isEmpty }

  /// Whether a record of a name was found that opens, and takes the place of one that does not.
  func hasOpened(_ name: NameKey) -> Bool { names[name]?.contains(where: \.opens) ?? false }

  mutating func add(_ candidate: Candidate) {
    names[NameKey(candidate.name), default: []].append(candidate)
  }

  /// Notes that a name was removed, if the page is one in use.
  mutating func add(removal row: PageWalker.Row) {
    guard !row.isFree else { return }
    removals[NameKey(row.name)] = max(removals[NameKey(row.name)] ?? .min, row.sequence)
  }

  /// The records to take.
  ///
  /// - Parameters:
  ///   - told: what the manifest tells of, or nil where it can't be read.
  ///   - known: the sums of the records that are taken already, by bucket.
  ///   - isProofNeeded: whether what is not proven is left out.
  /// - Returns: one record at most for each name, in the order of the names, and whether it is proven.
  func settled(
    by told: Manifest?, besides known: [Sum], isProofNeeded: Bool
  ) -> [(candidate: Candidate, isProven: Bool)] {
    var settled: [(candidate: Candidate, isProven: Bool)] = []
    for (bucket, names) in buckets {
      let options = names.map { candidates in candidates.sorted { $0.precedes($1) } }
      let first = options.map { firstChoice(of: $0) }
      let target = told.map { told in
        let (told, known) = (told.buckets[bucket], known[bucket])
        return Sum(count: Int(told.count) - known.count, sum: told.sum &- known.sum)
      }
      let proven = target.flatMap { Self.proven($0, options, first) }
      if proven == nil, isProofNeeded { continue }
      for (index, option) in (proven ?? first).enumerated() {
        guard let option else { continue }
        settled.append((options[index][option], proven != nil))
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

  /// What is taken where nothing is proven: the greatest number, unless a removal has a greater one; nothing
  /// that is on free pages alone.
  private func firstChoice(of sorted: [Candidate]) -> Int? {
    guard let best = sorted.first, !best.row.isFree else { return nil }
    let removal = removals[NameKey(best.name)] ?? .min
    return best.row.sequence > removal ? 0 : nil
  }

  /// The choice whose sum is the one that is told, if it is the first one or differs in two names at most.
  private static func proven(
    _ target: Sum, _ options: [[Candidate]], _ first: [Int?]
  ) -> [Int?]? {
    var missing = target
    for (index, option) in first.enumerated() {
      guard let option else { continue }
      missing.count -= 1
      missing.sum &-= options[index][option].share
    }
    if missing.count == 0, missing.sum == 0 { return first }
    let changes = changes(of: options, first)
    func apply(_ changes: [Change]) -> [Int?] {
      var choice = first
      for change in changes { choice[change.name] = change.option }
      return choice
    }
    for change in changes where change.count == missing.count && change.sum == missing.sum {
      return apply([change])
    }
    var left = attempts
    for (index, one) in changes.enumerated() {
      for other in changes[(index + 1)...] where other.name != one.name {
        guard left > 0 else { return nil }
        left -= 1
        if one.count + other.count == missing.count, one.sum &+ other.sum == missing.sum {
          return apply([one, other])
        }
      }
    }
    return nil
  }

  /// All that could be taken in the place of what is taken first, and what it changes.
  private static func changes(of options: [[Candidate]], _ first: [Int?]) -> [Change] {
    var changes: [Change] = []
    for (name, candidates) in options.enumerated() {
      let (oldCount, oldSum) = first[name].map { (1, candidates[$0].share) } ?? (0, 0)
      if first[name] != nil {
        changes.append(Change(name: name, option: nil, count: -1, sum: 0 &- oldSum))
      }
      for option in candidates.indices where option != first[name] {
        changes.append(
          Change(
            name: name, option: option, count: 1 - oldCount,
            sum: candidates[option].share &- oldSum))
      }
    }
    return changes
  }
}
