public import CryptoCore
public import StorageCore

public import struct FoundationEssentials.URL

/// Changes the configuration, best when the program starts.
///
/// A configuration that no longer matches stored data does not hide the data silently. Each use of
/// such a key throws `configurationConflict`, and `StorageDiagnostics` gets all conflicts when the
/// configuration is set. ``apply(storage:encryption:files:sync:)`` refuses such a configuration
/// instead.
extension StorageRouter {
  /// The values for keys that omit a service or a group.
  package var storageConfiguration: StorageConfiguration { core.state.withLock { $0.storage } }
  /// Where the master key is, and values for keys that omit a detail.
  package var encryptionConfiguration: EncryptionConfiguration {
    core.state.withLock { $0.encryption }
  }
  /// Where files are within the standard folders.
  package var fileStorageConfiguration: FileStorageConfiguration {
    core.state.withLock { $0.files }
  }
  /// The limit for values that are sent to other machines automatically.
  package var syncConfiguration: SyncConfiguration { core.state.withLock { $0.sync } }

  /// Sets the values for keys that omit a service or a group.
  public func updateStorageConfiguration(_ configuration: StorageConfiguration) async {
    await update { $0.storage = configuration }
  }

  /// Sets where the master key is, and the values for keys that omit a detail.
  public func updateEncryptionConfiguration(_ configuration: EncryptionConfiguration) async {
    await update { $0.encryption = configuration }
  }

  /// Sets where files are within the standard folders.
  public func updateFileStorageConfiguration(_ configuration: FileStorageConfiguration) async {
    await update { $0.files = configuration }
  }

  /// Sets the limit for values that are sent to other machines automatically.
  public func updateSyncConfiguration(_ configuration: SyncConfiguration) async {
    await update { $0.sync = configuration }
  }

  /// Sets every configuration that is not nil, unless that would hide stored data.
  ///
  /// - Parameters:
  ///   - storage: the values for keys that omit a service or a group.
  ///   - encryption: where the master key is, and values for keys that omit a detail.
  ///   - files: where files are within the standard folders.
  ///   - sync: the limit for values that are sent to other machines automatically.
  /// - Throws: `configurationConflict`, which names the keys whose values would be hidden, or why
  ///   the check failed. Then nothing is changed.
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
      "the configuration would hide stored data: \(shown)\(rest). Restore the old one, or migrate these keys"
    )
  }

  /// Takes over a custom folder that was moved to this place, with the sealed values in it.
  ///
  /// The sealed values of a custom folder open in this folder only, so they are `damaged` in the
  /// folder's new place. Call this after you moved a folder, and only then: the call trusts the
  /// folder's file `.folder.id`, so a program that calls it at each start would trust whoever can
  /// write to the folder. Values that were sealed in the folder's present place before the call,
  /// under another id, are `damaged` afterwards.
  ///
  /// - Parameter folder: the folder, as the keys declare it.
  /// - Throws: `unavailable` if the folder does not exist, `damaged` if its id can't be read,
  ///   `busy` while a rotation is unfinished, or why the ledger can't be written.
  public func adoptFolder(at folder: URL) async throws(StorageError) {
    let core = core
    try await Blocking.run { () throws(StorageError) in
      let path = try PathText.absolute(folder)
      guard try FileStatus.of(path)?.isFolder == true else {
        throw StorageError(.unavailable, "the folder does not exist", path: path)
      }
      guard try core.ledger.rotation() == nil else {
        throw StorageError(
          .busy,
          "a rotation is unfinished, and has listed the values at their former place; move the folder back, "
            + "finish the rotation, then adopt the folder", path: path)
      }
      for each in [path, path + "/.sealed"] { try FolderIDs(ledger: core.ledger).adopt(each) }
    }
    core.state.withLock { $0.startAnew() }
  }

  /// Registers a provider for the keys that name a source; it replaces the source's previous
  /// provider.
  ///
  /// - Parameters:
  ///   - provider: supplies the material.
  ///   - source: the source.
  public func registerKeyMaterialProvider(
    _ provider: any KeyMaterialProviding, for source: KeyMaterialSource
  ) {
    core.state.withLock { state in
      state.providers[source] = provider
      state.startAnew()
    }
  }

  /// Registers a closure that asks for the passcode, for keys whose access control needs one.
  ///
  /// A password manager or a token can give it, too:
  ///
  /// ```swift
  /// let passcode = KeyCommand(["pass", "show", "notes/passcode"])
  /// await router.registerPasscode { try passcode.line() }
  /// ```
  ///
  /// - Parameter ask: returns the passcode, or nil if there is none, which becomes the error
  ///   `keyUnavailable`. It is called for each read and write of such a key, on a thread that may
  ///   wait for the user. New values need a passcode of at least eight bytes; a shorter one is the
  ///   error `invalid`. Each such read or write takes about 0.3 s and 128 MiB, for scrypt, unless
  ///   the same passcode was given for the same value before.
  public func registerPasscode(_ ask: @escaping @Sendable () throws -> SecureBytes?) {
    core.state.withLock { state in
      state.passcode = ask
      state.startAnew()
    }
  }
}
