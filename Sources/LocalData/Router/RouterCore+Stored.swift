internal import CryptoCore
internal import StorageCore

extension RouterCore {
  /// The route to a key's value as it was stored, which may differ from the present declaration.
  ///
  /// For reading and removing: writing through it throws `configurationConflict`.
  ///
  /// - Returns: nil if nothing was ever stored, or the value is gone.
  func storedRoute<Key: StorageKey>(
    for key: Key
  ) throws(StorageError) -> Route<Key.Value>? {
    guard let entry = try ledger.entry(key.domain, key.name) else { return nil }
    let place = try places.place(at: entry.address)
    guard try place.contains() else { return nil }
    let serializer = Serializer.standard(named: entry.serializer) ?? key.serializer
    let state = state.withLock { $0 }
    let sealer: ValueSealer? =
      entry.protection == .plain
      ? nil
      : ValueSealer(nil, serializer.form, binding: binding(of: key, at: entry.address, state))
    return Route(
      key.name, entry.address, place, serializer, sealer,
      try materials(of: key.name, entry.protection, entry.address, state),
      changes(at: entry.address), requireNoConflict: { () throws(StorageError) in },
      beforeWriting: { () throws(StorageError) in
        throw StorageError(
          .configurationConflict, "the key is declared differently from how its value is stored",
          key: key.name)
      })
  }
}
