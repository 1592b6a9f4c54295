internal import CryptoCore
internal import Dispatch

/// What signals have hinted at and nobody has looked at yet.
///
/// A burst of signals of one item is one look, and while the service is slow they don't pile up.
struct SignalHints<Hint: Hashable & Sendable>: Sendable {
  /// Each once, in the order of their first signals.
  private(set) var hints: [Hint] = []
  private var known: Set<Hint> = []
  /// Whether everything is to be looked at, whatever `hints` are.
  var isAll = false
  /// Whether somebody is going to look.
  private var isExpected = false
  /// How often in a row it was not possible to look.
  fileprivate var failures = 0
  fileprivate var lastFailure: ContinuousClock.Instant?
  /// Whether it is tried again after a while anyway.
  fileprivate var isRetrying = false

  /// Whether it was not possible to look a moment ago: then it is not tried for each listener.
  var hasJustFailed: Bool {
    lastFailure.map { $0.duration(to: .now) < .seconds(5) } ?? false
  }

  mutating func add(_ hint: Hint) {
    if known.insert(hint).inserted { hints.append(hint) }
  }

  /// Whether nobody was going to look so far.
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

  /// What there is to look at, from then on by the caller.
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

  /// Notes that it was possible to look.
  func succeeded<Hint>() where Value == SignalHints<Hint> {
    withLock { hints in
      hints.failures = 0
      hints.lastFailure = nil
    }
  }

  /// Has everything looked at after a while, or with the next signal if that comes before.
  ///
  /// After a second at first, then after twice as long each time, up to a minute: no signal may come
  /// of a service that answers again. One attempt is under way at most, whatever fails meanwhile.
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
