internal import CryptoCore

/// The observers of one place whose delegates can't tell of changes themselves.
///
/// All stores of the place share it, so each is told what the others write; what others do with the
/// place, nobody is told.
final class ChangeHub: Sendable {
  private struct Entry {
    weak var hub: ChangeHub?
  }
  private static let hubs = Lock<[DelegateIdentity: Entry]>([:])

  /// The hub of a place while anybody uses it.
  static func hub(of place: DelegateIdentity) -> ChangeHub {
    hubs.withLock { hubs in
      if let hub = hubs[place]?.hub { return hub }
      let hub = ChangeHub()
      hubs = hubs.filter { $0.value.hub != nil }
      hubs[place] = Entry(hub: hub)
      return hub
    }
  }

  private let observers = ChangeObservers()
  /// Orders the writes.
  private let order = Lock(())

  /// Adds an observer, until the observation is released.
  func add(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    let observation = observers.add(observer)
    // The hub lives as long as it has observers.
    return ChangeObservation { [self] in
      withExtendedLifetime(self) {}
      withExtendedLifetime(observation) {}
    }
  }

  /// Makes a write, and tells of it if it was made.
  ///
  /// The lock is held over the delegate's write: only so are listeners told in its order.
  ///
  /// - Returns: whether it was made.
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
