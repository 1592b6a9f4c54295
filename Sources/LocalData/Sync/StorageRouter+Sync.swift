public import CryptoCore
public import StorageCore

/// Syncs values with other machines, through a store that they share.
///
/// The application decides when: ``sync(_:resolving:)`` for one key, ``syncAll()`` for all. A key
/// with the policy `automaticSmall` is synced automatically after each write and when the router is
/// connected, which also receives what others sent. No clock is used: a sync compares which side changed since the
/// last agreement. If both sides changed, nothing is changed, and the application is told of a
/// conflict.
///
/// In the shared store a value is sealed as its key's policy says, under the key that the machines
/// share, or under the material of the key's provider. A value with the policy `none` is readable
/// there.
extension StorageRouter {
  /// Connects the router to a store that machines share; this ends an earlier connection.
  ///
  /// Register catalogs first: this call compares their `automaticSmall` keys with the shared store,
  /// sends the values that an earlier process could not send, and receives what others sent.
  ///
  /// - Parameters:
  ///   - transport: the shared store.
  ///   - key: 256 bits that all machines have and that seal what is sent. Nil works if every synced
  ///     key is readable or has a provider; other keys then throw `keyUnavailable`.
  ///   - deadline: how long a call of the transport may take before it throws `timedOut`.
  ///   - retryAfter: the first delay before a failed send is repeated; it doubles with each
  ///     failure, up to one minute.
  ///   - onEvent: receives the results of automatic sends, on any thread. With nil,
  ///     `StorageDiagnostics` receives errors, conflicts and values that are too large.
  /// - Throws: `invalid` for a key of another size, or for an invalid id of the transport.
  public nonisolated func connect(
    _ transport: any SyncTransport, key: SymmetricKey? = nil, deadline: Duration = .seconds(30),
    retryAfter: Duration = .seconds(1), onEvent: (@Sendable (SyncEvent) -> Void)? = nil
  ) throws(StorageError) {
    try KeyName.check(transport.id, "a shared store")
    guard key.map({ $0.bitCount == 256 }) ?? true else {
      throw StorageError(.invalid, "the key that machines share must have 256 bits")
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

  /// Ends the connection; values that were not sent yet are sent after the next connection.
  public nonisolated func disconnect() {
    core.sync.withLock { links in
      defer { links.link = nil }
      return links.link
    }?.worker.stop()
  }

  /// The keys whose automatic sync runs or will be tried again, by domain and name.
  ///
  /// Empty does not mean that all was sent: `SyncEvent` tells of conflicts, of values that are too large,
  /// and of errors that another try would meet again.
  public nonisolated var pendingSyncs: [String] {
    core.sync.withLock { $0.link }?.worker.pending ?? []
  }

  /// Brings this machine's value and the shared value together.
  ///
  /// - Parameters:
  ///   - key: the key, with any policy but `never`, and a value of any size.
  ///   - resolve: called if both sides changed. Without it, nothing is changed in that case, and
  ///     the next sync finds the conflict again.
  /// - Returns: what was done.
  /// - Throws: an error of `resolve`, or `StorageError`, and then nothing is changed here, unless the
  ///   ledger can't be written, when the next sync finds both sides equal:
  ///   `unsupported` for a key that stays on this machine, `unavailable` if the key is not for this
  ///   machine or there is no connection, `keyUnavailable`, `damaged`, `wrongKey` or `typeMismatch`
  ///   for a shared entry that is not the key's, `timedOut`, `busy`, or why one of the sides can't
  ///   be used.
  public nonisolated func sync<Key: StorageKey>(
    _ key: Key,
    resolving resolve: (
      @Sendable (SyncConflict<Key.Value>) async throws -> SyncResolution<Key.Value>
    )? = nil
  ) async throws -> SyncOutcome<Key.Value> {
    try await core.syncEngine(of: key, resolve).run()
  }

  /// Syncs all keys of the registered catalogs that may leave this machine and may be used on it.
  ///
  /// The keys are synced one after the other; a failure does not stop the others.
  ///
  /// - Returns: the outcome of each key.
  /// - Throws: `unavailable` without a connection, `cancelled` if the task is cancelled; keys that
  ///   were already synced stay synced.
  public nonisolated func syncAll() async throws(StorageError) -> SyncReport {
    let core = core
    _ = try core.connected()
    var report = SyncReport()
    for key in core.syncedKeys {
      guard !Task.isCancelled else {
        throw StorageError(
          .cancelled, "the task was cancelled before all keys were synced")
      }
      report.entries.append(
        SyncReport.Entry(key: key.description, outcome: await core.sync(erased: key.base)))
    }
    return report
  }
}

extension RouterCore {
  /// The keys of the registered catalogs that may leave this machine and may be used on it.
  var syncedKeys: [AnyStorageKey] {
    let state = state.withLock { $0 }
    return state.catalogs.sorted { $0.key < $1.key }.flatMap(\.value).filter { key in
      key.base.syncPolicy != .never
        && key.base.availability.allows(machineOf: state.storage.machineTags)
    }
  }
}

extension SyncEvent {
  /// Reports events that need a person's attention to the diagnostics.
  static let tellDiagnostics: @Sendable (SyncEvent) -> Void = { event in
    switch event {
    case .agreed: return
    case .failed(_, let error, _): StorageDiagnostics.report(error)
    case .conflict(let key):
      StorageDiagnostics.report(
        StorageError(
          .conflict,
          "this machine's value and the shared value both changed; call sync and say which one to "
            + "keep", key: key))
    case .tooLarge(let key, let bytes, let limit):
      StorageDiagnostics.report(
        StorageError(
          .invalid,
          "the value has \(bytes) bytes, and automatic sending is limited to \(limit) bytes; call sync "
            + "to send it", key: key))
    }
  }
}
