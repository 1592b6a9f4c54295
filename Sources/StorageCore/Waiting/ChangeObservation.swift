/// Keeps an observer registered; releasing it runs a closure that removes the observer.
public final class ChangeObservation: Sendable {
  private let onRelease: @Sendable () -> Void

  /// Makes an observation that runs `onRelease` when it ends.
  public init(onRelease: @escaping @Sendable () -> Void) {
    self.onRelease = onRelease
  }

  deinit { onRelease() }
}
