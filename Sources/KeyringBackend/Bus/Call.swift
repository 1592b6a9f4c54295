internal import CLibsecret
internal import StorageCore

/// One call of the library's user: its deadline, its cancellation and what it may ask the user.
///
/// One thread uses it, for as long as the call takes.
final class Call {
  let access: KeyringAccess
  private(set) var end: ContinuousClock.Instant
  /// Whether the service has reported a change, which is not undone: any later failure is
  /// `outcomeUnknown` for the caller.
  var hasWritten = false
  private let cancellable = Cancellable()
  private let observation: ChangeObservation?

  /// Begins a call now.
  ///
  /// Cancelling the task for which the thread works ends the call, unless it cleans up.
  init(_ access: KeyringAccess, isCleaningUp: Bool = false) {
    self.access = access
    let delay = isCleaningUp ? .zero : Cancellation.current?.takeDelay() ?? .zero
    end = .now + access.deadline - delay
    let cancellable = cancellable
    observation =
      isCleaningUp ? nil : Cancellation.current?.whenCancelled { cancellable.cancel() }
  }

  /// Cancels the GLib calls that are made for this call.
  var cancelling: Cancellable { cancellable }

  /// The time that is left.
  var remaining: Duration { max(.zero, ContinuousClock.now.duration(to: end)) }

  /// The time that is left, as GLib takes it.
  ///
  /// - Throws: `timedOut` when no time is left.
  func milliseconds(for method: String) throws(BusFailure) -> Int32 {
    let (seconds, attoseconds) = remaining.components
    // Rounded up, since 0 means no time and -1 the bus's own timeout.
    let milliseconds = Int32(
      clamping: seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    guard milliseconds > 0 else { throw .outOfTime(method) }
    return milliseconds
  }

  /// Runs `body`, which waits for the user, and does not count its time.
  func whileAsking<Result>(
    _ body: () throws(BusFailure) -> Result
  ) throws(BusFailure) -> Result {
    let start = ContinuousClock.now
    defer { end += start.duration(to: .now) }
    return try body()
  }
}

@available(*, unavailable)
extension Call: Sendable {}

/// A GCancellable.
@safe
final class Cancellable: @unchecked Sendable {
  // g_cancellable_cancel() may be called by any thread.
  let handle: UnsafeMutablePointer<GCancellable>

  init() { unsafe handle = g_cancellable_new() }

  deinit { unsafe g_object_unref(handle) }

  func cancel() { unsafe g_cancellable_cancel(handle) }

  var isCancelled: Bool { unsafe g_cancellable_is_cancelled(handle) != 0 }
}
