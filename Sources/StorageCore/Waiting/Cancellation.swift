internal import CryptoCore

/// Tells a blocking call whether the task that made the call is cancelled.
package final class Cancellation: Sendable {
  /// The cancellation of the blocking call on this thread, or nil when the call can't be cancelled.
  @TaskLocal package static var current: Cancellation?

  private struct State {
    var isCancelled = false
    var delay = Duration.zero
    var nextID = 0
    var actions: [Int: @Sendable () -> Void] = [:]
  }
  private let state = Lock(State())

  /// Creates a cancellation that is not cancelled.
  package init() {}

  /// Whether ``cancel()`` was called.
  package var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Cancels, then runs the actions that were registered with ``whenCancelled(_:)``.
  package func cancel() {
    let actions = state.withLock { state in
      state.isCancelled = true
      defer { state.actions = [:] }
      return Array(state.actions.values)
    }
    for action in actions { action() }
  }

  func delay(by duration: Duration) { state.withLock { $0.delay = duration } }

  /// Returns how long the call waited for a thread, once; later calls return zero.
  ///
  /// The caller shortens its own waiting time by this duration.
  package func takeDelay() -> Duration {
    state.withLock { state in
      defer { state.delay = .zero }
      return state.delay
    }
  }

  /// Runs `action` on cancellation, or at once if already cancelled.
  ///
  /// Releasing the observation unregisters the action.
  package func whenCancelled(_ action: @escaping @Sendable () -> Void) -> ChangeObservation {
    let id = state.withLock { state -> Int? in
      guard !state.isCancelled else { return nil }
      defer { state.nextID += 1 }
      state.actions[state.nextID] = action
      return state.nextID
    }
    guard let id else {
      action()
      return ChangeObservation {}
    }
    return ChangeObservation { [self] in state.withLock { $0.actions[id] = nil } }
  }
}
