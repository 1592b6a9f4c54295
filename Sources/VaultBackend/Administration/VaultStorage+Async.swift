internal import CryptoCore
public import StorageCore

public import struct Foundation.URL

/// The calls for async code, as those of a `Storage`: each blocks a thread of its own, and none of
/// Swift concurrency.
extension VaultStorage {
  private func run<Success: Sendable>(
    _ body: @escaping @Sendable (VaultStorage) throws(StorageError) -> Success
  ) async throws(StorageError) -> Success {
    try await Blocking.run { () throws(StorageError) in try body(self) }
  }

  /// As ``verify(expecting:progress:)``.
  ///
  /// - Returns: what is not as it should be.
  /// - Throws: as ``verify(expecting:progress:)``.
  public func verifyAsync(
    expecting keys: [StoreKey] = [], progress: (@Sendable (Int, Int) -> Void)? = nil
  ) async throws(StorageError) -> VaultReport {
    try await run { (vault) throws(StorageError) in
      try vault.verify(expecting: keys, progress: progress)
    }
  }

  /// As ``repair(accepting:droppingUnreadable:)``.
  ///
  /// - Returns: what the vault holds now, and where the old file is.
  /// - Throws: as ``repair(accepting:droppingUnreadable:)``.
  @discardableResult
  public func repairAsync(
    accepting report: VaultReport, droppingUnreadable: Bool = false
  ) async throws(StorageError) -> VaultRepair {
    try await run { (vault) throws(StorageError) in
      try vault.repair(accepting: report, droppingUnreadable: droppingUnreadable)
    }
  }

  /// As ``previewRepair(accepting:droppingUnreadable:)``.
  ///
  /// - Returns: what the vault would hold.
  /// - Throws: as ``previewRepair(accepting:droppingUnreadable:)``.
  public func previewRepairAsync(
    accepting report: VaultReport, droppingUnreadable: Bool = false
  ) async throws(StorageError) -> VaultRepair {
    try await run { (vault) throws(StorageError) in
      try vault.previewRepair(accepting: report, droppingUnreadable: droppingUnreadable)
    }
  }

  /// As ``backup(to:replacing:progress:)``.
  ///
  /// - Throws: as ``backup(to:replacing:progress:)``.
  public func backupAsync(
    to url: URL, replacing: Bool = false, progress: (@Sendable (Int, Int) -> Void)? = nil
  ) async throws(StorageError) {
    try await run { (vault) throws(StorageError) in
      try vault.backup(to: url, replacing: replacing, progress: progress)
    }
  }

  /// As ``restore(from:keySource:progress:)``.
  ///
  /// - Returns: what the vault holds now, and where the old file is.
  /// - Throws: as ``restore(from:keySource:progress:)``.
  @discardableResult
  public func restoreAsync(
    from url: URL, keySource: KeySource? = nil, progress: (@Sendable (Int, Int) -> Void)? = nil
  ) async throws(StorageError) -> VaultRestoration {
    try await run { (vault) throws(StorageError) in
      try vault.restore(from: url, keySource: keySource, progress: progress)
    }
  }

  /// As ``compact()``.
  ///
  /// - Throws: as ``compact()``.
  public func compactAsync() async throws(StorageError) {
    try await run { (vault) throws(StorageError) in try vault.compact() }
  }

  /// As ``rotate(openedBy:names:keepingOldKeys:progress:)``.
  ///
  /// - Returns: as ``rotate(openedBy:names:keepingOldKeys:progress:)``.
  /// - Throws: as ``rotate(openedBy:names:keepingOldKeys:progress:)``.
  public func rotateAsync(
    openedBy source: KeySource? = nil, names: Bool = false, keepingOldKeys: Bool = false,
    progress: (@Sendable (Int, Int) -> Void)? = nil
  ) async throws(StorageError) -> ReencryptionReport {
    try await run { (vault) throws(StorageError) in
      try vault.rotate(
        openedBy: source, names: names, keepingOldKeys: keepingOldKeys, progress: progress)
    }
  }

  /// As ``exportRecovery()``.
  ///
  /// - Returns: the key, to be written down and kept elsewhere; it can't be had again.
  /// - Throws: as ``exportRecovery()``.
  public func exportRecoveryAsync() async throws(StorageError) -> RecoveryKey {
    try await run { (vault) throws(StorageError) in try vault.exportRecovery() }
  }
}
