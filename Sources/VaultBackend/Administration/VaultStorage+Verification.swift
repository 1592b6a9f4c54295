internal import CryptoCore
public import StorageCore

extension VaultStorage {
  /// Looks at everything: the file's structure, whether each record opens, and whether the records
  /// are those that were written last.
  ///
  /// It reads one snapshot, so others may read and write meanwhile. It costs reading and opening
  /// the whole vault. What it can't find is the whole file put back as it was.
  ///
  /// - Parameters:
  ///   - keys: keys that may have had a value. They are not looked for; but when somebody removed a
  ///     record, nothing in the vault says its name any more, and these are tried.
  ///   - progress: told how many records are done, of how many, now and then.
  /// - Returns: what is not as it should be.
  /// - Throws: `StorageError`: `unavailable` when there is no vault, or why it can't be opened, as
  ///   without its key.
  public func verify(
    expecting keys: [StoreKey] = [], progress: ((Int, Int) -> Void)? = nil
  ) throws(StorageError) -> VaultReport {
    let engine = try delegate.vault()
    for _ in 0..<100 {
      do throws(StorageError) {
        guard try store.openKeys() else { return try emptyReport(engine) }
      } catch {
        guard error.code == .damaged, try engine.isVault(waiting: delegate.deadline) else {
          throw error
        }
        return VaultReport(
          generation: 0, recordCount: 0, otherTagCount: 0,
          findings: [.init(kind: .damagedFile, count: 0, keys: [], message: error.finding)])
      }
      var verification = try VaultVerification(store, expecting: keys)
      var isCurrent = false
      let report = try engine.reading(waiting: delegate.deadline) {
        (connection) throws(StorageError) -> VaultReport? in
        // The keys have to be those of the snapshot.
        let header = try VaultRows.header(connection)
        let (known, manifestKeys) = engine.memory.withLock { ($0.header, $0.currentManifestKeys) }
        isCurrent = header == known
        return isCurrent ? try verification.run(connection, manifestKeys, progress) : nil
      }
      if isCurrent, let report, let report { return report }
    }
    throw StorageError(
      .busy, "the vault's keys are being changed all the time; try again", path: engine.file.path)
  }

  /// The report of a vault without a header.
  private func emptyReport(_ engine: VaultEngine) throws(StorageError) -> VaultReport {
    guard try engine.file.check(mending: false) else {
      throw StorageError(.unavailable, "there is no vault", path: engine.file.path)
    }
    return VaultReport(generation: 0, recordCount: 0, otherTagCount: 0, findings: [])
  }

  /// Takes the vault as it is, after a verification found it otherwise: the manifest is made anew.
  ///
  /// No record is removed: a damaged one stays as it is, and is read as `damaged` until its key is saved
  /// or removed; it counts from then on as one of another authentication tag, from which it can't be
  /// told apart. A file whose structure is broken is made anew out of the records that can still be
  /// read, for which no other program may have the vault open; the old one stays beside it.
  ///
  /// - Parameter report: what ``verify(expecting:progress:)`` found and the caller accepts.
  /// - Throws: `StorageError`: `busy` when somebody has written since; nothing is then changed.
  public func repair(accepting report: VaultReport) throws(StorageError) {
    guard !report.isSound else { return }
    if report.findings.contains(where: { $0.kind == .damagedFile }) { try rebuild() }
    let engine = try delegate.vault()
    try store.openKeys()
    let isRebuilt = report.findings.contains { $0.kind == .damagedFile }
    try engine.alone(waiting: delegate.deadline) { (end) throws(StorageError) in
      try engine.withTransaction(until: end) {
        (transaction: inout VaultTransaction) throws(StorageError) in
        guard isRebuilt || transaction.sequence == Int64(report.generation) else {
          throw StorageError(
            .busy, "the vault was written to since it was verified; verify it again",
            path: engine.file.path)
        }
        try transaction.requireKeys()
        try transaction.recompute()
      }
    }
  }
}
