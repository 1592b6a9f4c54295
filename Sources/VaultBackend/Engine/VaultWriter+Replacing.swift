internal import CryptoCore
internal import Glibc
internal import StorageCore

extension VaultWriter {
  /// Puts another file in the place of the vault's file; the old file stays beside it.
  ///
  /// No other process may have the vault open. The queue's leader calls this.
  ///
  /// - Parameters:
  ///   - end: how long to wait for other processes.
  ///   - body: writes the new vault into an empty file; the old one is still in place.
  /// - Returns: the path of the old file.
  /// - Throws: `StorageError`: `busy` when another process has the vault open. The old file then
  ///   stays in place, except with `outcomeUnknown`.
  func replaceFile(
    until end: ContinuousClock.Instant, _ body: (Connection) throws(StorageError) -> Void
  ) throws(StorageError) -> String? {
    // The closed engines open the new file at their next use.
    VaultRegistry.close(vault.file, but: gate)
    let kept = try gate.withLock { (opened) throws(StorageError) in
      gate.close(&opened)
      return try VaultCopy.make(vault.file, replacing: true, keepingOld: true, until: end, body)
    }
    vault.notice.post()
    return kept
  }

  /// Writes the file anew without removed content.
  ///
  /// - Returns: false, and nothing is changed, when the manifest's keys must be opened first.
  func compact(until end: ContinuousClock.Instant) throws(StorageError) -> Bool {
    var isForgotten: Bool?
    try withTransaction(until: end) { (transaction: inout VaultTransaction) throws(StorageError) in
      guard try transaction.canKeepManifest() else { return }
      isForgotten = try transaction.forgetAllRemovals()
    }
    guard let isForgotten else { return false }
    if !isForgotten {
      StorageDiagnostics.report(
        StorageError(
          .damaged,
          "the hashes of removed names were kept, because the records are not the latest ones; verify "
            + "the vault, and compact it again when it is sound",
          path: vault.file.path))
    }
    try gate.withLock { (opened) throws(StorageError) in
      guard let connection = opened?.main else { return }
      connection.wait(until: end)
      connection.forgetStatements()
      try connection.withAttaching { () throws(StorageError) in
        try connection.execute("VACUUM")
      }
      vault.memory.withLock { $0.doubt() }
    }
    log.scrub()
    return true
  }
}
