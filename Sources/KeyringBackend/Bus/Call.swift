internal import CLibsecret
internal import StorageCore

/// One call of the library's user: its deadline, its cancellation and what it may ask the user.
///
/// Of one thread, and for as long as the call takes.
final class Call {
  let access: KeyringAccess
  private(set) var end: ContinuousClock.Instant
  /// Whether the service has said that it made a change, which is not undone: whatever fails after
  /// that is of unknown outcome for the caller.
  var hasWritten = false
  private let cancellable = Cancellable()
  private let observation: ChangeObservation?

  /// Begins now, and ends with the task for which the thread works, unless it is to clean up.
  init(_ access: KeyringAccess, isCleaningUp: Bool = false) {
    self.access = access
    let delay = isCleaningUp ? .zero : Cancellation.current?.takeDelay() ?? .zero
    end = .now + access.deadline - delay
    let cancellable = cancellable
    observation =
      isCleaningUp ? nil : Cancellation.current?.whenCancelled { cancellable.cancel() }
  }

  /// What cancels the GLib calls that are made for it.
  var cancelling: Cancellable { cancellable }

  /// What is left of its time.
  var remaining: Duration { max(.zero, ContinuousClock.now.duration(to: end)) }

  /// What is left of its time, as GLib takes it.
  ///
  /// - Throws: `timedOut` when nothing is.
  func milliseconds(for method: String) throws(BusFailure) -> Int32 {
    let (seconds, attoseconds) = remaining.components
    // Rounded up, since 0 is no time and -1 the bus's own.
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
