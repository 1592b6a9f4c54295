internal import CryptoCore
internal import Synchronization

/// Reports what a store does, for example to count reads and writes.
///
/// A successful read sends no event. While nobody watches, any other event costs one load of a
/// flag.
package final class StoreEvents: Sendable {
  /// An operation that succeeded or failed.
  package enum Event: Hashable, Sendable {
    /// This many values were saved or removed, durably where the place is durable.
    case wrote(Int)
    /// A value could not be read.
    case failedToRead(StorageError.Code)
    /// Values could not be saved or removed.
    case failedToWrite(StorageError.Code)
    /// The store's keys differ from those used before, no matter who changed them.
    case changedKeys
  }

  private struct Sinks: Sendable {
    var nextID = 0
    var all: [Int: @Sendable (Event) -> Void] = [:]
  }
  private let sinks = Lock(Sinks())
  private let isWatched = Atomic<Bool>(false)

  /// Calls `sink` for each event, until the observation is released.
  ///
  /// `sink` may run under a lock of the store: it must be quick and must not use the store.
  package func watch(_ sink: @escaping @Sendable (Event) -> Void) -> ChangeObservation {
    let id = sinks.withLock { sinks in
      defer { sinks.nextID += 1 }
      sinks.all[sinks.nextID] = sink
      isWatched.store(true, ordering: .relaxed)
      return sinks.nextID
    }
    return ChangeObservation { [self] in
      sinks.withLock { sinks in
        sinks.all[id] = nil
        isWatched.store(!sinks.all.isEmpty, ordering: .relaxed)
      }
    }
  }

  @inline(__always)
  func tell(_ event: @autoclosure () -> Event) {
    guard isWatched.load(ordering: .relaxed) else { return }
    deliver(event())
  }

  @inline(never)
  private func deliver(_ event: Event) {
    for sink in sinks.withLock({ Array($0.all.values) }) { sink(event) }
  }
}
