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
  func mayBeChange(_ change: RecordChange, of name: RecordName) -> Bool {
    guard let open = keys.current, isCurrent(change, open) else { return true }
    do throws(StorageError) {
      return try name.context(in: open).name == change.name
    } catch {
      return false  // an invalid name has no record
    }
  }

  /// The keys and the context that assign a change to the record of `name`; nil when the change
  /// belongs to another name.
  ///
  /// The keys may be former ones, which must not open the record; use ``opening(_:named:)`` for
  /// that.
  ///
  /// A store that was removed and created again hashes names differently. The same queue may hold
  /// changes from before and after that.
  func owner(
    of change: RecordChange, _ name: RecordName
  ) throws(StorageError) -> (OpenKeys, RecordContext)? {
    var isRefreshed = false
    while true {
      for open in keys.nameSpaces() {
        let context = try name.context(in: open)
        if context.name == change.name { return (open, context) }
      }
      let isKnown = keys.current.map { isCurrent(change, $0) } ?? false
      guard !isKnown, !isRefreshed else { return nil }
      try keys.refresh()
      isRefreshed = true
    }
  }

  /// How names are hashed now in the store where a change was made; nil when the store has no keys.
  func nameSpace(after change: RecordChange) throws(StorageError) -> OpenKeys.NameSpace? {
    if let open = keys.current, !isCurrent(change, open) { try keys.refresh() }
    return keys.current?.nameSpace
  }

  /// A change's record with the store's current keys; nil when these lack the key that the record
  /// names.
  ///
  /// Former keys are never used. A rotation ends keys that someone else may have. A record sealed
  /// under an ended key could have been put back by them, so no read accepts it.
  func opening(
    _ change: RecordChange, named name: RecordName
  ) throws(StorageError) -> Sealed? {
    guard let record = change.record else { return nil }
    let id = Self.header(of: record)?.keyID
    for isRefreshed in [false, true] {
      if isRefreshed { try keys.refresh() }
      guard let open = keys.current, isRefreshed || isCurrent(change, open) else { continue }
      let context = try name.context(in: open)
      // A record that names no key opens with none; the caller gets that error.
      if context.name == change.name, id.map(open.holds) ?? true {
        return Sealed(record: record, keys: open, context: context)
      }
    }
    return nil
  }

  private func isCurrent(_ change: RecordChange, _ open: OpenKeys) -> Bool {
    change.headerVersion == open.headerVersion
  }
}
