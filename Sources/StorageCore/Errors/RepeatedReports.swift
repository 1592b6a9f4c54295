/// The errors that the default handler has printed, so that it prints an error once and then counts
/// it.
///
/// A count is printed when another error comes from the same place, each minute while the error
/// goes on, and at the end of the process. At most ``limit`` errors are counted apart; all others
/// share one count.
struct RepeatedReports {
  /// How many different errors are counted apart.
  static let limit = 64
  /// The shortest time between two lines for the same count.
  static let interval = Duration.seconds(60)

  /// Identifies an error: errors of one store count as the same error, whatever their key names.
  private struct Identity: Hashable {
    let error: StorageError

    init(_ error: StorageError) {
      self.error = error.path == nil && error.isOfValue ? error : error.withoutKey
    }

    /// The place of the error: its file, or else its key name; nil for a store in no known file.
    var subject: String? { error.path ?? error.key }
  }

  private struct Count {
    /// The error to print: the first one, or one without a key name if several key names had it.
    var error: StorageError
    /// How often the error came since it was last printed.
    var unsaid = 0
    /// When the error or its count was last printed.
    var said: ContinuousClock.Instant
    /// When the error last came.
    var seen: ContinuousClock.Instant

    /// The line with the count, or nil when the count is 0; sets the count to 0.
    ///
    /// - Parameter isWhole: whether the line repeats the message, which was printed before.
    /// - Returns: the line.
    mutating func summary(isWhole: Bool = false) -> String? {
      guard unsaid > 0 else { return nil }
      defer { (unsaid, said) = (0, seen) }
      let seconds = said.duration(to: seen).components.seconds
      let what = isWhole ? "\(error)" : "\(error.codeAndSubject), as above"
      return "\(unsaid) more \(unsaid == 1 ? "time" : "times") in \(seconds) s: \(what)"
    }
  }

  private var counts: [Identity: Count] = [:]
  /// The count of the errors that came while `counts` was full.
  private var others: Count?

  /// The lines to print when `error` comes.
  mutating func lines(for error: StorageError, at now: ContinuousClock.Instant) -> [String] {
    let identity = Identity(error)
    if counts[identity] != nil { return again(identity, error, now) }
    var lines = summaries { $0.subject == identity.subject }
    if counts.count >= Self.limit { lines += makeRoom(now) }
    guard counts.count < Self.limit else { return lines + besides(error, now) }
    counts[identity] = Count(error: error, said: now, seen: now)
    return lines + ["\(error)"]
  }

  /// The lines with all counts that were not printed yet.
  mutating func rest() -> [String] {
    let lines = summaries { _ in true } + [others?.summary(isWhole: true)].compactMap { $0 }
    others = nil
    return lines
  }

  private mutating func again(
    _ identity: Identity, _ error: StorageError, _ now: ContinuousClock.Instant
  ) -> [String] {
    // Changed in place: each read of an unreadable property costs this call.
    guard let index = counts.index(forKey: identity) else { return [] }
    counts.values[index].unsaid += 1
    counts.values[index].seen = now
    if counts.values[index].error.key != error.key {
      counts.values[index].error = identity.error
    }
    guard counts.values[index].said.duration(to: now) >= Self.interval else { return [] }
    return [counts.values[index].summary(isWhole: true)].compactMap { $0 }
  }

  /// Drops the error that has not come for the longest time, if that time is ``interval`` or more.
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
    count.error = StorageError(error.code, "several other errors; the last one: \(error)")
    count.unsaid += 1
    count.seen = now
    defer { others = count }
    return count.said.duration(to: now) >= Self.interval
      ? [count.summary(isWhole: true)].compactMap { $0 } : []
  }

  private mutating func summaries(of isChosen: (Identity) -> Bool) -> [String] {
    counts.keys.filter(isChosen).compactMap { counts[$0]?.summary() }.sorted()
  }
}

extension StorageError {
  /// The same error without a key name.
  fileprivate var withoutKey: StorageError {
    StorageError(code, message, path: path, number: number)
  }

  /// Whether the error is about one value, and not about its whole store.
  fileprivate var isOfValue: Bool {
    [.damaged, .typeMismatch, .invalid, .unsupported, .duplicate, .conflict, .unregisteredKey]
      .contains(code)
  }
}
