/// What the default handler has said, so that it says a thing once and counts it from then on.
///
/// The count is said when something else goes wrong in the same place, each minute while it goes on, and
/// at the end of the process. It holds at most ``limit`` errors; what comes besides is counted together.
struct RepeatedReports {
  /// How many different errors are told apart.
  static let limit = 64
  /// How often a count is said at most.
  static let interval = Duration.seconds(60)

  /// What is the same thing: where an error is of a file, whatever the key that was asked for.
  private struct Identity: Hashable {
    let error: StorageError

    init(_ error: StorageError) {
      self.error = error.path == nil ? error : error.withoutKey
    }

    /// The place that it is about.
    var subject: String? { error.path ?? error.key }
  }

  private struct Count {
    /// The error as it is said: as it came first, or without its key if it came of several.
    var error: StorageError
    /// How often it came since it was said.
    var unsaid = 0
    /// When it was said.
    var said: ContinuousClock.Instant
    /// When it came last.
    var seen: ContinuousClock.Instant

    /// The line that says how often it came, if it did.
    mutating func summary() -> String? {
      guard unsaid > 0 else { return nil }
      defer { (unsaid, said) = (0, seen) }
      let seconds = said.duration(to: seen).components.seconds
      return "\(unsaid) more \(unsaid == 1 ? "time" : "times") in \(seconds) s: \(error)"
    }
  }

  private var counts: [Identity: Count] = [:]
  /// What came while `counts` was full.
  private var others: Count?

  /// The lines to say when `error` comes.
  mutating func lines(for error: StorageError, at now: ContinuousClock.Instant) -> [String] {
    let identity = Identity(error)
    if counts[identity] != nil { return again(identity, error, now) }
    var lines = summaries { $0.subject != nil && $0.subject == identity.subject }
    if counts.count >= Self.limit { lines += makeRoom(now) }
    guard counts.count < Self.limit else { return lines + besides(error, now) }
    counts[identity] = Count(error: error, said: now, seen: now)
    return lines + ["\(error)"]
  }

  /// The lines that say what was counted and not said yet.
  mutating func rest() -> [String] {
    let lines = summaries { _ in true } + [others?.summary()].compactMap { $0 }
    others = nil
    return lines
  }

  private mutating func again(
    _ identity: Identity, _ error: StorageError, _ now: ContinuousClock.Instant
  ) -> [String] {
    // In place: this is what a property that can't be read costs at each read.
    guard let index = counts.index(forKey: identity) else { return [] }
    counts.values[index].unsaid += 1
    counts.values[index].seen = now
    if counts.values[index].error.key != error.key {
      counts.values[index].error = identity.error
    }
    guard counts.values[index].said.duration(to: now) >= Self.interval else { return [] }
    return [counts.values[index].summary()].compactMap { $0 }
  }

  /// Forgets what came longest ago, if that was not just now.
  private mutating func makeRoom(_ now: ContinuousClock.Instant) -> [String] {
    guard let oldest = counts.min(by: { $0.value.seen < $1.value.seen }),
      oldest.value.seen.duration(to: now) >= Self.interval
    else { return [] }
    var count = oldest.value
    counts[oldest.key] = nil
    return [count.summary()].compactMap { $0 }
  }

  private mutating func besides(
    _ error: StorageError, _ now: ContinuousClock.Instant
  ) -> [String] {
    var count = others ?? Count(error: error, said: now, seen: now)
    count.error = StorageError(error.code, "of various errors, the last: \(error)")
    count.unsaid += 1
    count.seen = now
    defer { others = count }
    return count.said.duration(to: now) >= Self.interval ? [count.summary()].compactMap { $0 } : []
  }

  private mutating func summaries(of isChosen: (Identity) -> Bool) -> [String] {
    counts.keys.filter(isChosen).compactMap { counts[$0]?.summary() }.sorted()
  }
}

extension StorageError {
  /// The same error of the same file, of no key.
  fileprivate var withoutKey: StorageError {
    StorageError(code, message, path: path, number: number)
  }
}
