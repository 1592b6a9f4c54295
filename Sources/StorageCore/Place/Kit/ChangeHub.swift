internal import CryptoCore

/// The observers of one place whose delegates can't notify of changes themselves.
///
/// All stores of the place in this process share one hub, so each store sees the writes of the
/// others. Changes that are made in another way are not reported.
final class ChangeHub: Sendable {
  private static let hubs = WeakTable<DelegateIdentity, ChangeHub>()

  /// The hub of a place; it exists as long as someone uses it.
  static func hub(of place: DelegateIdentity) -> ChangeHub { hubs.object(place) { ChangeHub() } }

  private let observers = ChangeObservers()
  /// Orders the writes.
  private let order = Lock(())

  /// Adds an observer; it is removed when the observation is released.
  func add(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    let observation = observers.add(observer)
    // The hub lives as long as it has observers.
    return ChangeObservation { [self] in
      withExtendedLifetime(self) {}
      withExtendedLifetime(observation) {}
    }
  }

  /// Runs a write, and notifies the observers if it was made.
  ///
  /// Holds the lock during the delegate's write, so that listeners see changes in the delegate's
  /// order.
  ///
  /// - Returns: whether the write was made.
  func telling(
    _ change: RecordChange, _ write: () throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    try StorageDiagnostics.reportingAfterwards { () throws(StorageError) in
      try order.withLock { (_) throws(StorageError) in
        guard try write() else { return false }
        if !observers.isEmpty { observers.notify(change) }
        return true
      }
    }
  }
}
