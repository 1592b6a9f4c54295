public import CryptoCore
public import StorageCore

/// Syncing with other machines, through a store that they share.
///
/// The application says when: ``sync(_:resolving:)`` for one key, ``syncAll()`` for all. What a key with the
/// policy `automaticSmall` is set to is sent by itself; what others sent is taken over by the next sync of
/// the key. What counts is which side changed since they last agreed, and no clock: where both did,
/// nothing is changed, and the application is told.
///
/// In the shared store a value is sealed as its key's policy says, under the key that the machines share, or
/// under what the key's provider gives. A value whose policy is `none` is readable there.
extension StorageRouter {
  /// Connects the router to a store that machines share; an earlier connection ends.
  ///
  /// Register catalogs before: their `automaticSmall` keys are compared with the shared store now, so that
  /// what an earlier process could not send is sent.
  ///
  /// - Parameters:
  ///   - transport: the shared store.
  ///   - key: 256 bits that all machines have, which seal what is sent; nil where all synced keys are
  ///     readable or have a provider, else such keys are the error `keyUnavailable`.
  ///   - deadline: how long a call of the transport may take before it is the error `timedOut`.
  ///   - retryAfter: how long to wait before a value that could not be sent is tried again; twice as long
  ///     each time, up to a minute.
  ///   - onEvent: told what became of values that are sent by themselves, from any thread. Nil tells
  ///     errors, conflicts and values that are too large to `StorageDiagnostics`.
  /// - Throws: `invalid` for a key of another size, or a transport's id that can't be one.
  public nonisolated func connect(
    _ transport: any SyncTransport, key: SymmetricKey? = nil, deadline: Duration = .seconds(30),
    retryAfter: Duration = .seconds(1), onEvent: (@Sendable (SyncEvent) -> Void)? = nil
  ) throws(StorageError) {
    try KeyName.check(transport.id, "a shared store")
    guard key.map({ $0.bitCount == 256 }) ?? true else {
      throw StorageError(.invalid, "the key that machines share has 256 bits")
    }
    let link = SyncLink(
      transport, key, deadline,
      SyncWorker(core, retryAfter: retryAfter, onEvent ?? SyncEvent.tellDiagnostics))
    core.sync.withLock { links in
      defer { links.link = link }
      return links.link
    }?.worker.stop()
    for key in core.syncedKeys where key.base.syncPolicy == .automaticSmall {
      link.worker.note(key)
    }
  }

  /// Ends the connection; what could not be sent yet is sent after the next one.
  public nonisolated func disconnect() {
    core.sync.withLock { links in
      defer { links.link = nil }
      return links.link
    }?.worker.stop()
  }

  /// The keys that were written and are still to be sent, by domain and name.
  public nonisolated var pendingSyncs: [String] {
    core.sync.withLock { $0.link }?.worker.pending ?? []
  }

  /// Brings the value here and the shared one together.
  ///
  /// - Parameters:
  ///   - key: the key, of any policy but `never`, and of any size.
  ///   - resolve: asked where both sides changed. Without it, nothing is changed then, and the next sync
  ///     finds the conflict again.
  /// - Returns: what was done.
  /// - Throws: what `resolve` throws, or `StorageError`, and nothing is then changed here: `unsupported`
  ///   for a key that stays on this machine, `unavailable` for one that is not for this machine's role or
  ///   without a connection, `keyUnavailable`, `damaged`, `wrongKey` or `typeMismatch` for a shared entry
  ///   that is not the key's, `timedOut`, `busy`, or why one of the sides can't be used.
  public nonisolated func sync<Key: StorageKey>(
    _ key: Key,
    resolving resolve: (
      @Sendable (SyncConflict<Key.Value>) async throws -> SyncResolution<Key.Value>
    )? = nil
  ) async throws -> SyncOutcome<Key.Value> {
    try await core.syncEngine(of: key, resolve).run()
  }

  /// Syncs all keys of the registered catalogs that may leave this machine and are for it.
  ///
  /// One after the other; one that fails stops no other.
  ///
  /// - Returns: what became of each.
  /// - Throws: `unavailable` without a connection, `cancelled` when the task is; the keys that were done
  ///   stay done.
  public nonisolated func syncAll() async throws(StorageError) -> SyncReport {
    let core = core
    guard core.sync.withLock({ $0.link != nil }) else {
      throw StorageError(
        .unavailable, "the router has no shared store to sync with; connect it to one before")
    }
    var report = SyncReport()
    for key in core.syncedKeys {
      guard !Task.isCancelled else {
        throw StorageError(
          .cancelled, "the caller's task was cancelled before all keys were synced")
      }
      report.entries.append(
        SyncReport.Entry(key: key.description, outcome: await core.sync(erased: key.base)))
    }
    return report
  }
}

extension RouterCore {
  /// The keys of the registered catalogs that may leave this machine and are for it.
  var syncedKeys: [AnyStorageKey] {
    let state = state.withLock { $0 }
    return state.catalogs.sorted { $0.key < $1.key }.flatMap(\.value).filter { key in
      key.base.syncPolicy != .never
        && key.base.availability.allows(machineOf: state.storage.machineTags)
    }
  }
}

extension SyncEvent {
  /// Hands what a person should know to the diagnostics.
  static let tellDiagnostics: @Sendable (SyncEvent) -> Void = { event in
    switch event {
    case .agreed: return
    case .failed(_, let error, _): StorageDiagnostics.report(error)
    case .conflict(let key):
      StorageDiagnostics.report(
        StorageError(
          .conflict,
          "the value here and the shared one have both changed; sync the key and say which "
            + "counts", key: key))
    case .tooLarge(let key, let bytes, let limit):
      StorageDiagnostics.report(
        StorageError(
          .invalid,
          "the value has \(bytes) bytes and is not sent by itself, which \(limit) are; sync "
            + "the key", key: key))
    }
  }
}
