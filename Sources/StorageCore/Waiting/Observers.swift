internal import CryptoCore
internal import Synchronization

/// A list of observers, each of which is removed when its observation is released.
///
/// Any thread may use it. Notices arrive in the order in which they are given, if ``notify(_:)`` is
/// called under the lock under which the change takes effect.
public final class Observers<Notice>: Sendable {
  private struct State {
    var nextID = 0
    var observers: [Int: @Sendable (Notice) -> Void] = [:]
  }
  private let state = Lock(State())
  /// The number of observers, in an atomic so that the usual case, no observer, costs one load.
  private let count = Atomic<Int>(0)

  /// Makes a list without observers.
  public init() {}

  /// Adds an observer; it is removed when the observation is released.
  public func add(_ observer: @escaping @Sendable (Notice) -> Void) -> ChangeObservation {
    let id = state.withLock { state in
      defer { state.nextID += 1 }
      state.observers[state.nextID] = observer
      count.store(state.observers.count, ordering: .releasing)
      return state.nextID
    }
    return ChangeObservation { [weak self] in
      guard let self else { return }
      self.state.withLock { state in
        state.observers[id] = nil
        self.count.store(state.observers.count, ordering: .releasing)
      }
    }
  }

  /// Whether there are no observers, so that no notice needs to be made.
  public var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  /// Calls all observers.
  public func notify(_ notice: Notice) {
    for observer in state.withLock({ Array($0.observers.values) }) { observer(notice) }
  }
}
