internal import CryptoCore

// Whose record a change is of: only the keys can tell, and they may be others than at the change.

extension SealedStore {
  /// Whether a change may be of the record of `name`.
  ///
  /// Called under the delegate's lock, where the store can't be opened: while its keys are not those
  /// of the header that the change was made under, every change may be.
  func mayBeChange(_ change: RecordChange, of name: RecordName) -> Bool {
    guard let open = keys.current, isCurrent(change, open) else { return true }
    do throws(StorageError) {
      return try name.context(in: open).name == change.name
    } catch {
      return false  // a name that can't be has no record
    }
  }

  /// The keys and the context under which a change is one of the record of `name`, or nil when it is
  /// of another.
  ///
  /// The keys may be ones of before, which are to open nothing: ``opening(_:named:)`` does.
  ///
  /// A store that was removed and made anew hashes names otherwise: changes from before and after
  /// may wait in the same queue.
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

  /// How names are hashed now, if there are keys, where a change was made.
  func nameSpace(after change: RecordChange) throws(StorageError) -> OpenKeys.NameSpace? {
    if let open = keys.current, !isCurrent(change, open) { try keys.refresh() }
    return keys.current?.nameSpace
  }

  /// The record of a change with the keys that the store has now, or nil when they lack the one that
  /// the record names.
  ///
  /// Never with keys of before. A rotation ends keys that somebody else may have: what is put back
  /// that was sealed under them is not to be believed, and no read believes it.
  func opening(
    _ change: RecordChange, named name: RecordName
  ) throws(StorageError) -> Sealed? {
    guard let record = change.record else { return nil }
    let id = Self.header(of: record)?.keyID
    for isRefreshed in [false, true] {
      if isRefreshed { try keys.refresh() }
      guard let open = keys.current, isRefreshed || isCurrent(change, open) else { continue }
      let context = try name.context(in: open)
      // One that names no key opens by none, which is what is to be told.
      if context.name == change.name, id.map(open.holds) ?? true {
        return Sealed(record: record, keys: open, context: context)
      }
    }
    return nil
  }

  private func isCurrent(_ change: RecordChange, _ open: OpenKeys) -> Bool {
    !isHeaded || change.headerVersion == open.headerVersion
  }
}
