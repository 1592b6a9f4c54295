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

  private let sinks = Observers<Event>()

  /// Calls `sink` for each event, until the observation is released.
  ///
  /// `sink` may run under a lock of the store: it must be quick and must not use the store.
  package func watch(_ sink: @escaping @Sendable (Event) -> Void) -> ChangeObservation {
    sinks.add(sink)
  }

  @inline(__always)
  func tell(_ event: @autoclosure () -> Event) {
    guard !sinks.isEmpty else { return }
    sinks.notify(event())
  }
}
