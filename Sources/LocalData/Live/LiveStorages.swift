internal import CryptoCore
internal import StorageCore

/// The storages behind the live properties of a router's keys, one for each key.
final class LiveStorages: Sendable {
  /// One key for all, so that all storages of one key hash names alike.
  private static let key = SymmetricKey(size: .bits256)
  /// Weak: the properties keep the storage alive, and the storage keeps the router alive.
  private struct Entry {
    weak var storage: DelegatedStorage?
  }
  private let storages = Lock<[RouteKey: Entry]>([:])

  /// The storage of a key, created on first use.
  func storage(of key: some StorageKey, _ core: RouterCore) -> DelegatedStorage {
    let id = RouteKey(key)
    if let storage = storages.withLock({ $0[id]?.storage }) { return storage }
    let delegate = LiveKeyDelegate(core, key, records: ClearRecords(key: Self.key))
    let storage = DelegatedStorage(delegate, clear: delegate.records, key: Self.key)
    return storages.withLock { storages in
      if let first = storages[id]?.storage { return first }
      storages[id] = Entry(storage: storage)
      return storage
    }
  }
}
