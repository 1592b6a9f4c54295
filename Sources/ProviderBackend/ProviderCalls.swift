internal import CryptoCore
internal import Dispatch
internal import StorageCore

/// Calls of one provider: one after the other, on a thread of their own, each with a deadline.
///
/// A call that was begun keeps this: a provider that has not returned is never called by way of another.
final class ProviderCalls: Sendable {
  private struct Entry {
    weak var calls: ProviderCalls?
  }
  private static let all = Lock<[DelegateIdentity: Entry]>([:])

  /// The calls of a provider, whatever storages it serves.
  static func of(_ provider: DelegateIdentity) -> ProviderCalls {
    all.withLock { all in
      if let calls = all[provider]?.calls { return calls }
      let calls = ProviderCalls()
      all = all.filter { $0.value.calls != nil }
      all[provider] = Entry(calls: calls)
      return calls
    }
  }

  private let queue = DispatchQueue(label: "SecurePropertyStorage.ProviderBackend")
  private static let isInside = DispatchSpecificKey<ObjectIdentifier>()
  /// Whether a call has not returned that nobody waits for any more.
  private let isStuck = Lock(false)

  init() { queue.setSpecific(key: Self.isInside, value: ObjectIdentifier(self)) }

  /// What becomes of a call.
  private final class Ticket<Result: Sendable>: Sendable {
    enum State {
      case waiting, running, abandoned
      case done(Swift.Result<Result, StorageError>)
    }
    let state = Lock(State.waiting)
    let end = DispatchSemaphore(value: 0)
  }

  /// Runs `body` and waits for it until the deadline.
  ///
  /// - Throws: what `body` throws; `timedOut` when the deadline passed and nothing was begun, or
  ///   `late` when it was: then `body` may still come to its end.
  func perform<Result: Sendable>(
    within deadline: Duration, late: StorageError.Code,
    _ body: @escaping @Sendable () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    guard DispatchQueue.getSpecific(key: Self.isInside) != ObjectIdentifier(self) else {
      throw StorageError(.busy, "the provider used the storage that it serves; it must not")
    }
    guard !isStuck.withLock({ $0 }) else {
      throw StorageError(
        .timedOut, "the provider has not returned from an earlier call; nothing was done")
    }
    let ticket = Ticket<Result>()
    queue.async { [self] in run(ticket, body) }
    if ticket.end.wait(timeout: .now() + Self.interval(deadline)) == .timedOut {
      try giveUp(ticket, late)
    }
    guard case .done(let result) = ticket.state.withLock({ $0 }) else {
      throw StorageError(.io, "the call was dropped; this is a bug")
    }
    return try result.get()
  }

  /// Runs `body` when its turn comes; nobody waits.
  func begin(after delay: Duration = .zero, _ body: @escaping @Sendable () -> Void) {
    queue.asyncAfter(deadline: .now() + Self.interval(delay)) { [self] in
      withExtendedLifetime(self) { body() }
    }
  }

  /// A time to wait, of at most some thirty years: `Duration` has longer ones than the clock.
  private static func interval(_ duration: Duration) -> DispatchTimeInterval {
    .milliseconds(Int(min(max(duration / .milliseconds(1), 0), 1e12)))
  }

  private func run<Result>(
    _ ticket: Ticket<Result>, _ body: () throws(StorageError) -> Result
  ) {
    let isWanted = ticket.state.withLock { state in
      guard case .waiting = state else { return false }
      state = .running
      return true
    }
    // What was given up is never begun.
    guard isWanted else { return }
    let result: Swift.Result<Result, StorageError>
    do throws(StorageError) { result = .success(try body()) } catch { result = .failure(error) }
    ticket.state.withLock { $0 = .done(result) }
    isStuck.withLock { $0 = false }
    ticket.end.signal()
  }

  private func giveUp<Result>(
    _ ticket: Ticket<Result>, _ late: StorageError.Code
  ) throws(StorageError) {
    let isRunning = ticket.state.withLock { state -> Bool? in
      switch state {
      case .done: return nil  // just now
      case .running: return true
      default:
        state = .abandoned
        return false
      }
    }
    guard let isRunning else { return }
    guard isRunning else {
      throw StorageError(.timedOut, "the provider was busy until the deadline; nothing was done")
    }
    isStuck.withLock { $0 = true }
    // It may have ended between the two.
    if case .done = ticket.state.withLock({ $0 }) { isStuck.withLock { $0 = false } }
    throw StorageError(late, "the provider did not return before the deadline")
  }
}
