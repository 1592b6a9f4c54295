internal import CryptoCore
public import StorageCore

public import struct FoundationEssentials.URL

extension StorageRouter {
  /// Replaces every key that seals this application's values, after one of them leaked, and seals
  /// all values again.
  ///
  /// It replaces the keys of the ledger, the keychain, the suites and the sealed folders, then the
  /// master key, then the keys of the groups. Afterwards somebody with an old key and old copies of
  /// the files can read nothing that is written from then on, and a value that they seal under an
  /// old key is not read: it is `wrongKey` or `damaged`.
  ///
  /// Values can be read and written meanwhile, also by other processes; they wait for moments only.
  /// A value counts only if it was there when its key was replaced. Values of keys that no catalog
  /// declares are sealed again, too. If the call is interrupted, call it again with the same
  /// source: it continues. Until it has finished, programs list the new source before the old one:
  /// `KeySource.firstAvailable(_:)`; afterwards, only the new one.
  ///
  /// Before anything is changed, it refuses to lose values that it can't reach: mount every disk,
  /// call ``adoptFolder(at:)`` for moved folders, and have the ledger in place. A value that can't
  /// be read stays as it is, and the report names it; the rotation is then unfinished, and the next
  /// call goes on. Values under a provider's material are sealed again if they are under former
  /// material; values under a passcode stay. Backups still open with the old keys. Recovery keys
  /// end, since they lead to the old keys.
  ///
  /// - Parameters:
  ///   - source: opens all stores from now on, and must not have leaked; nil keeps the present
  ///     source, if that is still secret.
  ///   - names: whether the names in vaults, suites and sealed folders are hashed with a new key,
  ///     too. Each store is then locked while that is done, and each of its records must open.
  ///   - abandoningMissing: whether values that are missing or can't be read are given up. The
  ///     report names them, and no key opens them afterwards.
  ///   - progress: called from time to time with the number of steps done and of all steps.
  /// - Returns: what was replaced and sealed again, and what was left.
  /// - Throws: `StorageError`: `busy` if another rotation runs; or, before anything is changed, why
  ///   a store does not open, `unavailable`, `denied`, `configurationConflict` or the code of the
  ///   first value that can't be reached, `wrongKey` if an old ledger or store was put back,
  ///   `invalid` if an interrupted rotation began with another source; or a later failure, after
  ///   which every value is still readable, and another call continues.
  public nonisolated func rotate(
    openedBy source: KeySource? = nil, names: Bool = false,
    abandoningMissing: Bool = false,
    progress: (@Sendable (Int, Int) -> Void)? = nil
  ) async throws(StorageError) -> StorageRotationReport {
    try await runRotation(
      openedBy: source, names: names, abandoningMissing: abandoningMissing, progress: progress,
      onStep: { _ in })
  }

  /// Like the public call, but reports each completed step, for tests that end the process there.
  package nonisolated func runRotation(
    openedBy source: KeySource? = nil, names: Bool = false,
    abandoningMissing: Bool = false,
    progress: (@Sendable (Int, Int) -> Void)? = nil,
    onStep: @escaping @Sendable (RotationStep) -> Void
  ) async throws(StorageError) -> StorageRotationReport {
    let core = core
    let declared = core.state.withLock { $0.catalogs }.values.joined().map(\.descriptor)
    let report = try await Blocking.run { () throws(StorageError) in
      try core.rotate(
        declared,
        RotationOptions(
          source: source, names: names, isAbandoning: abandoningMissing, progress: progress,
          onStep: onStep))
    }
    return try await core.resealExternal(report)
  }
}

extension RouterCore {
  /// Replaces all keys of the application; blocks.
  func rotate(
    _ declared: [StorageKeyDescriptor], _ options: RotationOptions
  ) throws(StorageError) -> StorageRotationReport {
    var rotation = Rotation(self, declared, options)
    try places.keyLock().rotating { () throws(StorageError) in try rotation.run() }
    for entry in try ledger.entries() {
      switch entry.protection {
      case .provider, .passcode:
        rotation.report.external.append(SealedValue(entry.address, entry.domain.domain).title)
      default: break
      }
    }
    return rotation.report
  }

  /// Seals values again that are under a registered provider's former material.
  fileprivate func resealExternal(
    _ report: StorageRotationReport
  ) async throws(StorageError) -> StorageRotationReport {
    var report = report
    let state = state.withLock { $0 }
    for entry in try await Blocking.run({ [ledger] () throws(StorageError) in try ledger.entries() }
    ) {
      guard case .provider(let id) = entry.protection else { continue }
      let source = KeyMaterialSource(id: id)
      guard let provider = state.providers[source] else { continue }
      let value = SealedValue(entry.address, entry.domain.domain)
      report.external.removeAll { $0 == value.title }
      let call = ProviderCall(
        provider: provider, name: entry.name, address: entry.address, source: source,
        deadline: state.encryption.keyMaterialDeadline)
      do throws(StorageError) {
        if try await call.reseal(value, self) { report.resealed += 1 }
      } catch {
        report.left.append(
          StorageRotationReport.Left(
            name: value.title, place: "\(value.address)", error: error))
      }
    }
    return report
  }
}

extension StorageCatalogFile {
  /// Replaces every key of the application, as
  /// ``StorageRouter/rotate(openedBy:names:abandoningMissing:progress:)`` does; blocks.
  ///
  /// Asks no provider and for no passcode: values under these stay, and the report names them.
  ///
  /// - Parameters:
  ///   - applicationID: the application; nil means the id in the file.
  ///   - keySource: opens its stores now.
  ///   - folder: the folder that holds all of its places, if its router was created with one; nil
  ///     for the standard places.
  ///   - source: opens its stores from now on; nil keeps `keySource`.
  ///   - names: whether names are hashed with a new key, too.
  ///   - abandoningMissing: whether values that are missing or can't be read are given up. The
  ///     report names them, and no key opens them afterwards.
  ///   - progress: called from time to time with the number of steps done and of all steps.
  /// - Returns: what was replaced and sealed again, and what was left.
  /// - Throws: `StorageError`: `invalid` if there is no id, or it is not a valid one; `unavailable`
  ///   if the application has no stores there, and nothing is created then; or as the router's
  ///   call.
  public func rotate(
    applicationID: String? = nil, keySource: KeySource, folder: URL? = nil,
    openedBy source: KeySource? = nil, names: Bool = false,
    abandoningMissing: Bool = false,
    progress: (@Sendable (Int, Int) -> Void)? = nil
  ) throws(StorageError) -> StorageRotationReport {
    let core = try core(applicationID, keySource, folder)
    guard try Rotation.hasStores(core, keys) else {
      throw StorageError(
        .unavailable,
        "the application has no typed storage there, so nothing was rotated; check its id and its folder"
      )
    }
    return try core.rotate(
      keys,
      RotationOptions(
        source: source, names: names, isAbandoning: abandoningMissing, progress: progress))
  }
}
