internal import CryptoCore
internal import StorageCore

/// One listener of the states of a typed key.
///
/// It reads each change that this process makes before the call that made it returns, so it misses
/// none of them.
final class LiveKeyListener<Key: StorageKey, Value: Sendable & Equatable>: Sendable {
  private enum Observation {
    case starting
    case running(ChangeObservation)
    case ended
  }

  private let source: LiveKeySource<Key, Value>
  private let key: Key
  private let continuation: AsyncStream<PropertyState<Value>>.Continuation
  /// The last state; the lock is held while the place is read, so that states stay in order.
  private let last = Lock<PropertyState<Value>?>(nil)
  private let observation = Lock(Observation.starting)

  init(
    _ source: LiveKeySource<Key, Value>, _ key: Key,
    _ continuation: AsyncStream<PropertyState<Value>>.Continuation
  ) {
    self.source = source
    self.key = key
    self.continuation = continuation
  }

  /// Starts on a thread that may block.
  func begin() {
    Task.detached { [self] in
      await Blocking.run { [self] in
        do throws(StorageError) {
          let new = try source.home.core.observe(key) { [weak self] isOwn in self?.look(isOwn) }
          observation.withLock { if case .starting = $0 { $0 = .running(new) } }
        } catch {}  // reading gives the error
        look(false)
      }
    }
  }

  func end() {
    // Released without the lock.
    let former = observation.withLock { observation in
      defer { observation = .ended }
      return observation
    }
    withExtendedLifetime(former) {}
  }

  private func look(_ isOwn: Bool) {
    last.withLock { last in
      let state = PropertyState { () throws(StorageError) in try source.load() }
      // A failure is told once, and a value that is there already only if this process stored it.
      if state == last {
        guard isOwn else { return }
        if case .failed = state { return }
      }
      last = state
      continuation.yield(state)
    }
  }
}
