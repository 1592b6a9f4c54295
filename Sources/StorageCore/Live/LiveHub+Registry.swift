internal import CryptoCore

extension LiveHub {
  private struct Entry {
    weak var hub: LiveHub?
  }
  private static let hubs = Lock<[DelegateIdentity: [Entry]]>([:])

  /// The hub of a store: the hub of an equal store of the same place, or a new one.
  ///
  /// Two stores are equal when their keys and authentication tags are the same. A store that can't
  /// be opened, or that other keys open, gets its own hub: no caller sees values that its own keys
  /// don't open.
  static func hub(of store: SealedStore) -> LiveHub {
    let identity = store.identity
    var asked: [LiveHub] = []
    while true {
      let known = hubs.withLock { all in
        let known = (all[identity] ?? []).compactMap(\.hub)
        all[identity] = known.map { Entry(hub: $0) }
        return known
      }
      for hub in known where !asked.contains(where: { $0 === hub }) {
        if hub.store?.opensAlike(store) == true { return hub }
        asked.append(hub)
      }
      let new = LiveHub(store)
      let isAdded = hubs.withLock { all in
        // Another thread may have added a hub meanwhile.
        let count = all[identity]?.count ?? 0
        guard count == known.count else { return false }
        all = all.filter { $0.key == identity || $0.value.contains { $0.hub != nil } }
        all[identity, default: []].append(Entry(hub: new))
        return true
      }
      if isAdded { return new }
    }
  }
}

extension SealedStore {
  /// Whether this store and another one of the same place open the same records.
  fileprivate func opensAlike(_ other: SealedStore) -> Bool {
    if self === other { return true }
    guard tag == other.tag else { return false }
    do throws(StorageError) {
      let mine = try keys.forReading()
      let others = try other.keys.forReading()
      if let mine, let others {
        return mine.store == others.store && mine.nameSpace.key == others.nameSpace.key
      }
      guard mine == nil, others == nil else { return false }
      return try keys.source.isSameKey(as: other.keys.source)
    } catch {
      return false
    }
  }
}
