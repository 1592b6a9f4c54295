internal import CryptoCore

// Only the keys can tell which name a change belongs to, and they may have changed since.

extension SealedStore {
  /// Calls `observer` for each change to a record, in order.
  package func observe(
    _ observer: @escaping @Sendable (RecordChange) -> Void
  ) -> ChangeObservation {
    place.observe(observer)
  }

  /// Calls `observer` each time the value of a name may have changed.
  ///
  /// The observer runs under the place's lock: it must be quick and must not use the store.
  package func observe(
    _ name: RecordName, _ observer: @escaping @Sendable () -> Void
  ) -> ChangeObservation {
    observe { change in
      if self.mayBeChange(change, of: name) { observer() }
    }
  }

  /// Whether a change may be of the record of `name`.
  ///
  /// Called under the place's lock, where the store can't be opened. While the current keys are
  /// not those of the change's header, this returns true for every change.
  private func mayBeChange(_ change: RecordChange, of name: RecordName) -> Bool {
    guard let open = keys.current, change.headerVersion == open.headerVersion else { return true }
    do throws(StorageError) {
      return try name.context(in: open).name == change.name
    } catch {
      return false  // an invalid name has no record
    }
  }
}
