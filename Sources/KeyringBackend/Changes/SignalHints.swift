internal import CryptoCore
internal import Dispatch

/// The hints of signals that nobody has followed yet.
///
/// A burst of signals about one item causes one look, and hints don't pile up while the service is
/// slow.
struct SignalHints<Hint: Hashable & Sendable>: Sendable {
  /// Each hint once, in the order of the first signals.
  private(set) var hints: [Hint] = []
  private var known: Set<Hint> = []
  /// Whether to look at everything, whatever `hints` are.
  var isAll = false
  /// Whether a look is queued.
  private var isExpected = false
  /// How many looks in a row have failed.
  fileprivate var failures = 0
  fileprivate var lastFailure: ContinuousClock.Instant?
  /// Whether another try is already scheduled.
  fileprivate var isRetrying = false

  /// Whether a look failed a moment ago: then new listeners don't cause further tries.
  var hasJustFailed: Bool {
    lastFailure.map { $0.duration(to: .now) < .seconds(5) } ?? false
  }

  mutating func add(_ hint: Hint) {
    if known.insert(hint).inserted { hints.append(hint) }
  }

  /// Notes that a look is queued, and returns whether none was queued before.
  fileprivate mutating func expect() -> Bool {
    defer { isExpected = true }
    return !isExpected
  }
}

extension Lock {
  /// Adds a hint, and has it followed on a queue.
  func add<Hint>(
    on queue: DispatchQueue, _ change: (inout SignalHints<Hint>) -> Void,
    then follow: @escaping @Sendable () -> Void
  ) where Value == SignalHints<Hint> {
    let isFirst = withLock { hints in
      change(&hints)
      return hints.expect()
    }
    if isFirst { queue.async(execute: follow) }
  }

  /// Takes all hints; the caller is to follow them.
  func take<Hint>() -> SignalHints<Hint> where Value == SignalHints<Hint> {
    withLock { hints in
      defer {
        var next = SignalHints<Hint>()
        (next.failures, next.lastFailure) = (hints.failures, hints.lastFailure)
        next.isRetrying = hints.isRetrying
        hints = next
      }
      return hints
    }
  }

  /// Notes that a look succeeded.
  func succeeded<Hint>() where Value == SignalHints<Hint> {
    withLock { hints in
      hints.failures = 0
      hints.lastFailure = nil
    }
  }

  /// Schedules a look at everything after a while, or with the next signal if that comes first.
  ///
  /// After a second at first, then after twice as long each time, up to a minute, since a service
  /// that answers again may send no signal. One attempt is under way at most, whatever fails
  /// meanwhile.
  func failed<Hint>(
    on queue: DispatchQueue, _ follow: @escaping @Sendable () -> Void
  ) where Value == SignalHints<Hint> {
    let failures = withLock { hints -> Int? in
      hints.isAll = true
      hints.lastFailure = .now
      guard !hints.isRetrying else { return nil }
      hints.isRetrying = true
      hints.failures = min(hints.failures + 1, 7)
      return hints.failures
    }
    guard let failures else { return }
    queue.asyncAfter(deadline: .now() + .seconds(1 << (failures - 1))) {
      self.withLock { $0.isRetrying = false }
      follow()
    }
  }
}
