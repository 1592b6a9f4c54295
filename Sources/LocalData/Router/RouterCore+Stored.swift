internal import CryptoCore
internal import StorageCore

extension RouterCore {
  /// The way to a key's value as it was stored, which may be another than the key declares now.
  ///
  /// For reading and removing: a write by it is the error `configurationConflict`.
  ///
  /// - Returns: nil when nothing was ever stored, or it is gone.
  func storedRoute<Key: StorageKey>(
    for key: Key
  ) throws(StorageError) -> Route<Key.Value>? {
    guard let entry = try ledger.entry(key.domain, key.name) else { return nil }
    let place = try places.place(at: entry.address)
    guard try place.contains() else { return nil }
    let serializer = Serializer.standard(named: entry.serializer) ?? key.serializer
    let sealer: ValueSealer? =
      entry.protection == .plain
      ? nil : ValueSealer(nil, serializer.form, binding: Self.binding(of: key))
    let state = state.withLock { $0 }
    return Route(
      key.name, place, serializer, sealer,
      try materials(of: key.name, entry.protection, entry.address, state),
      changes(at: entry.address), requireNoConflict: { () throws(StorageError) in },
      beforeWriting: { () throws(StorageError) in
        throw StorageError(
          .configurationConflict, "the key is declared otherwise than its value is stored",
          key: key.name)
      })
  }
}
