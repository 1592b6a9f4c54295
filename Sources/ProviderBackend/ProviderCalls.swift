internal import CryptoCore
internal import Dispatch
internal import StorageCore

/// The calls of one provider: one at a time, on a separate thread, each with a deadline.
///
/// A running call keeps this object alive. While a provider has not returned, it therefore gets no
/// call through another object.
final class ProviderCalls: Sendable {
  private static let all = WeakTable<ProviderIdentity, ProviderCalls>()

  /// The calls of a provider, shared by all storages that it serves.
  static func of(_ provider: ProviderIdentity) -> ProviderCalls {
    all.object(provider) { ProviderCalls() }
  }

  private let queue = DispatchQueue(label: "SecurePropertyStorage.ProviderBackend")
  private static let isInside = DispatchSpecificKey<ObjectIdentifier>()
  /// Whether a call is still running that nobody waits for any more.
  private let isStuck = Lock(false)

  init() { queue.setSpecific(key: Self.isInside, value: ObjectIdentifier(self)) }

  /// The state of one call.
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
  /// - Throws: what `body` throws. At the deadline, `timedOut` if `body` has not begun, and `late`
  ///   if it has: `body` may then still complete.
  func perform<Result: Sendable>(
    within deadline: Duration, late: StorageError.Code,
    _ body: @escaping @Sendable () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    guard DispatchQueue.getSpecific(key: Self.isInside) != ObjectIdentifier(self) else {
      throw StorageError(
        .invalid,
        "the provider used the storage that it serves, so each would wait for the other; let it keep and "
          + "return data without the storage")
    }
    guard !isStuck.withLock({ $0 }) else {
      throw StorageError(
        .timedOut,
        "the provider has not returned from an earlier call, so nothing was done; see why it hangs")
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

  /// Runs `body` when its turn comes; does not wait for it.
  func begin(after delay: Duration = .zero, _ body: @escaping @Sendable () -> Void) {
    queue.asyncAfter(deadline: .now() + Self.interval(delay)) { [self] in
      withExtendedLifetime(self) { body() }
    }
  }

  /// A time to wait, limited to about thirty years: a `Duration` can be longer than the clock
  /// allows.
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
    // A call that was given up is never begun.
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
      case .done: return nil  // it has just completed
      case .running: return true
      default:
        state = .abandoned
        return false
      }
    }
    guard let isRunning else { return }
    guard isRunning else {
      throw StorageError(
        .timedOut, "the provider was busy until the deadline, so nothing was done; try again")
    }
    isStuck.withLock { $0 = true }
    // The call may have completed between the two locked steps.
    if case .done = ticket.state.withLock({ $0 }) { isStuck.withLock { $0 = false } }
    throw StorageError(late, "the provider did not return before the deadline")
  }
}
