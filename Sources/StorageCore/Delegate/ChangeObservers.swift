internal import CryptoCore
internal import Synchronization

/// The observers of a delegate, told in the order in which changes take effect.
///
/// Call ``notify(_:)`` under the lock under which the change takes effect.
public final class ChangeObservers: Sendable {
  private struct State {
    var nextID = 0
    var observers: [Int: @Sendable (RecordChange) -> Void] = [:]
  }
  private let state = Lock(State())
  /// How many there are, so that the usual case costs one load.
  private let count = Atomic<Int>(0)

  /// No observers yet.
  public init() {}

  /// Adds an observer, until the observation is released.
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

  /// Whether nobody listens: then a change need not be made.
  public var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  /// Tells all observers of a change.
  public func notify(_ change: RecordChange) {
    for observer in state.withLock({ Array($0.observers.values) }) { observer(change) }
  }
}
