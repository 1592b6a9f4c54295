internal import CryptoCore
internal import Synchronization

/// The observers of a delegate, notified in the order in which changes take effect.
///
/// Call ``notify(_:)`` while holding the lock under which the change takes effect.
public final class ChangeObservers: Sendable {
  private struct State {
    var nextID = 0
    var observers: [Int: @Sendable (RecordChange) -> Void] = [:]
  }
  private let state = Lock(State())
  /// The number of observers, in an atomic so that the usual case, no observer, costs one load.
  private let count = Atomic<Int>(0)

  /// Makes a list without observers.
  public init() {}

  /// Adds an observer; it is removed when the observation is released.
  public func add(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
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

  /// Whether there are no observers, so that no ``RecordChange`` needs to be made.
  public var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  /// Calls all observers with a change.
  public func notify(_ change: RecordChange) {
    for observer in state.withLock({ Array($0.observers.values) }) { observer(change) }
  }
}
