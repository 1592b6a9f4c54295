internal import CryptoCore
internal import StorageCore

extension RouterCore {
  /// The engine that syncs a key.
  ///
  /// - Throws: `unsupported` for a key that stays on this machine, `unavailable` if the key is not
  ///   for this machine or there is no connection, and the errors of the key's route.
  func syncEngine<Key: StorageKey>(
    of key: Key, _ resolve: SyncEngine<Key>.Resolver?
  ) async throws(StorageError) -> SyncEngine<Key> {
    do throws(StorageError) {
      // The passed key may declare anything; the declaration in its catalog counts.
      try Self.requireRegistration(of: key, in: state.withLock { $0 })
      guard key.syncPolicy != .never else {
        throw StorageError(
          .unsupported, "the key's syncPolicy is never, so its value stays on this machine")
      }
      let link = try connected()
      let route = try await routeAsync(for: key)
      let sealer = try await Blocking.run { [self] () throws(StorageError) in
        try SyncSealer(
          key, try resolution(of: key).plan, route.materials,
          SharedStoreID(link: link, ledger: ledger))
      }
      return SyncEngine(key, route, sealer, link, ledger, resolve)
    } catch {
      throw error.about(key.name)
    }
  }

  /// The connection to the shared store.
  func connected() throws(StorageError) -> SyncLink {
    if let link = sync.withLock({ $0.link }) { return link }
    throw StorageError(
      .unavailable, "the router has no shared store to sync with; call connect first")
  }

  private func resolution(of key: some StorageKey) throws(StorageError) -> Resolution {
    try self.resolve(key, state.withLock { $0 })
  }

  /// Sends a key after each of its writes, if its policy says so.
  func followWrites(of key: some StorageKey, at address: PlaceAddress) {
    guard key.syncPolicy == .automaticSmall else { return }
    let erased = AnyStorageKey(key)
    let name = "\(erased) in \(address)"
    guard sync.withLock({ $0.followed[name] == nil }) else { return }
    // If another thread adds a second observation at the same time, it ends at once.
    let observation = changes(at: address).add { [weak self] _ in
      self?.sync.withLock { $0.link }?.worker.note(erased)
    }
    sync.withLock { $0.followed[name] = observation }
  }

  /// Syncs a key from a list.
  func sync<Key: StorageKey>(erased key: Key) async -> SyncReport.Outcome {
    do {
      return try await syncEngine(of: key, nil).run().kind
    } catch {
      return .failed(Self.syncError(error, key.name))
    }
  }

  static func syncError(_ error: any Error, _ name: String) -> StorageError {
    if let error = error as? StorageError { return error.about(name) }
    return StorageError(.io, "a sync failed with \(type(of: error))", key: name)
  }
}
