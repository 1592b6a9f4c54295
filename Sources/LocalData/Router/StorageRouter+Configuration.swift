public import CryptoCore
public import StorageCore

/// Configuring, at best when the program starts.
///
/// A configuration that would hide stored data hides none: each use of such a key is the error
/// `configurationConflict`, and `StorageDiagnostics` is told of all of them when the configuration is
/// given. ``apply(storage:encryption:files:sync:)`` refuses it instead.
extension StorageRouter {
  /// What keys that leave out a service or a group get.
  public var storageConfiguration: StorageConfiguration { core.state.withLock { $0.storage } }
  /// Where the master key is.
  public var encryptionConfiguration: EncryptionConfiguration {
    core.state.withLock { $0.encryption }
  }
  /// Where in the standard folders files are.
  public var fileStorageConfiguration: FileStorageConfiguration {
    core.state.withLock { $0.files }
  }
  /// What is sent to other machines by itself.
  public var syncConfiguration: SyncConfiguration { core.state.withLock { $0.sync } }

  /// Sets what keys that leave out a service or a group get.
  public func updateStorageConfiguration(_ configuration: StorageConfiguration) async {
    await update { $0.storage = configuration }
  }

  /// Sets where the master key is, and what keys that leave out a detail get.
  public func updateEncryptionConfiguration(_ configuration: EncryptionConfiguration) async {
    await update { $0.encryption = configuration }
  }

  /// Sets where in the standard folders files are.
  public func updateFileStorageConfiguration(_ configuration: FileStorageConfiguration) async {
    await update { $0.files = configuration }
  }

  /// Sets what is sent to other machines by itself.
  public func updateSyncConfiguration(_ configuration: SyncConfiguration) async {
    await update { $0.sync = configuration }
  }

  /// Sets what is not nil, unless that would hide stored data.
  ///
  /// - Parameters:
  ///   - storage: what keys that leave out a service or a group get.
  ///   - encryption: where the master key is.
  ///   - files: where in the standard folders files are.
  ///   - sync: what is sent to other machines by itself.
  /// - Throws: `configurationConflict`, which names the keys whose values would be hidden, or why that
  ///   can't be known. Nothing is then changed.
  public func apply(
    storage: StorageConfiguration? = nil, encryption: EncryptionConfiguration? = nil,
    files: FileStorageConfiguration? = nil, sync: SyncConfiguration? = nil
  ) async throws(StorageError) {
    let change: @Sendable (inout RouterState) -> Void = { state in
      if let storage { state.storage = storage }
      if let encryption { state.encryption = encryption }
      if let files { state.files = files }
      if let sync { state.sync = sync }
    }
    try await refuseConflicts(with: change)
    core.state.withLock { state in
      change(&state)
      state.startAnew()
    }
  }

  private func update(_ change: @escaping @Sendable (inout RouterState) -> Void) async {
    core.state.withLock { state in
      change(&state)
      state.startAnew()
    }
    do throws(StorageError) {
      try await refuseConflicts { _ in }
    } catch {
      StorageDiagnostics.report(error)
    }
  }

  private func refuseConflicts(
    with change: @escaping @Sendable (inout RouterState) -> Void
  ) async throws(StorageError) {
    let core = core
    let conflicts = try await Blocking.run { () throws(StorageError) in
      var state = core.state.withLock { $0 }
      change(&state)
      return try core.conflicts(under: state)
    }
    guard !conflicts.isEmpty else { return }
    let shown = conflicts.prefix(10).joined(separator: "; ")
    let rest = conflicts.count > 10 ? "; and \(conflicts.count - 10) more" : ""
    throw StorageError(
      .configurationConflict,
      "the configuration would hide stored data: \(shown)\(rest). Put it back, or migrate these keys"
    )
  }

  /// Takes a provider for the keys that name a source; it replaces any other.
  ///
  /// - Parameters:
  ///   - provider: gives the material.
  ///   - source: the source.
  public func registerKeyMaterialProvider(
    _ provider: any KeyMaterialProviding, for source: KeyMaterialSource
  ) {
    core.state.withLock { state in
      state.providers[source] = provider
      state.startAnew()
    }
  }

  /// Takes a closure that asks for the passcode, for keys whose access needs one.
  ///
  /// - Parameter ask: gives the passcode, or nil when there is none to be had, which is the error
  ///   `keyUnavailable`. It is called at each reading and writing of such a key, on a thread that may
  ///   wait for the user. Each call then takes about 0.3 s and 128 MiB, for scrypt, unless the same
  ///   passcode was given for the same value before.
  public func registerPasscode(_ ask: @escaping @Sendable () throws -> SecureBytes?) {
    core.state.withLock { state in
      state.passcode = ask
      state.startAnew()
    }
  }
}
