internal import CryptoCore
public import StorageCore
public import VaultBackend

public import struct Foundation.URL

/// The calls for async code: each blocks a thread of its own, and none of Swift concurrency.
extension SealedFolder {
  /// As ``Progress``, for work on another thread.
  public typealias AsyncProgress = @Sendable (_ done: Int, _ total: Int?) -> Void

  /// As ``verify(expecting:progress:)``.
  ///
  /// - Returns: what is not as it should be.
  /// - Throws: as ``verify(expecting:progress:)``.
  public func verifyAsync(
    expecting names: [StoreKey] = [], progress: AsyncProgress? = nil
  ) async throws(StorageError) -> SealedFolderReport {
    try await Blocking.run { () throws(StorageError) in
      try self.verify(expecting: names, progress: progress)
    }
  }

  /// As ``inspect()``.
  ///
  /// - Returns: what is not as it should be beside the index.
  /// - Throws: as ``inspect()``.
  public func inspectAsync() async throws(StorageError) -> [SealedFolderReport.Finding] {
    try await Blocking.run { () throws(StorageError) in try self.inspect() }
  }

  /// As ``repair(accepting:removingUnreadable:removingUnnamed:)``.
  ///
  /// - Returns: what was done.
  /// - Throws: as ``repair(accepting:removingUnreadable:removingUnnamed:)``.
  @discardableResult
  public func repairAsync(
    accepting report: SealedFolderReport, removingUnreadable: Bool = false,
    removingUnnamed: Bool = false
  ) async throws(StorageError) -> SealedFolderRepair {
    try await Blocking.run { () throws(StorageError) in
      try self.repair(
        accepting: report, removingUnreadable: removingUnreadable,
        removingUnnamed: removingUnnamed)
    }
  }

  /// As ``backup(to:leavingOutUnreadable:accepting:progress:)``.
  ///
  /// - Returns: what was left out.
  /// - Throws: as ``backup(to:leavingOutUnreadable:accepting:progress:)``; `cancelled` when the task was.
  @discardableResult
  public func backupAsync(
    to url: URL, leavingOutUnreadable leavesOutUnreadable: Bool = false,
    accepting kinds: Set<VaultReport.Finding.Kind> = [], progress: AsyncProgress? = nil
  ) async throws(StorageError) -> SealedFolderBackup {
    try await Blocking.run { () throws(StorageError) in
      try self.backup(
        to: url, leavingOutUnreadable: leavesOutUnreadable, accepting: kinds, progress: progress)
    }
  }

  /// As ``restore(from:keySource:progress:)``.
  ///
  /// - Returns: what became of the index.
  /// - Throws: as ``restore(from:keySource:progress:)``; `cancelled` when the task was.
  @discardableResult
  public func restoreAsync(
    from url: URL, keySource: KeySource? = nil, progress: AsyncProgress? = nil
  ) async throws(StorageError) -> VaultRestoration {
    try await Blocking.run { () throws(StorageError) in
      try self.restore(from: url, keySource: keySource, progress: progress)
    }
  }

  /// As ``rotate(openedBy:names:progress:)``.
  ///
  /// - Returns: what was sealed anew.
  /// - Throws: as ``rotate(openedBy:names:progress:)``; `cancelled` when the task was, and
  ///   ``reencryptAsync(progress:)`` goes on.
  public func rotateAsync(
    openedBy source: KeySource? = nil, names: Bool = false, progress: AsyncProgress? = nil
  ) async throws(StorageError) -> SealedFolderRotation {
    try await Blocking.run { () throws(StorageError) in
      try self.rotate(openedBy: source, names: names, progress: progress)
    }
  }

  /// As ``reencrypt(progress:)``.
  ///
  /// - Returns: what was sealed anew.
  /// - Throws: as ``reencrypt(progress:)``.
  public func reencryptAsync(
    progress: AsyncProgress? = nil
  ) async throws(StorageError) -> SealedFolderRotation {
    try await Blocking.run { () throws(StorageError) in try self.reencrypt(progress: progress) }
  }

  /// As ``compact()``.
  ///
  /// - Throws: as ``compact()``.
  public func compactAsync() async throws(StorageError) {
    try await Blocking.run { () throws(StorageError) in try self.compact() }
  }
}
