internal import CryptoCore
public import StorageCore

extension VaultStorage {
  /// Looks at everything: the file's structure, whether each record opens, and whether the records
  /// are those that were written last.
  ///
  /// It reads one snapshot, so others may read and write meanwhile. It reads and opens the whole
  /// vault. It can't tell that the whole file was replaced by an older one, unless this process has
  /// seen a later commit.
  ///
  /// - Parameters:
  ///   - keys: keys that may have had a value. They need not have one now. But if somebody removed
  ///     a record, the vault no longer has its name, and these names are tried.
  ///   - progress: called now and then how many of all records are done.
  /// - Returns: what is not as it should be.
  /// - Throws: `StorageError`: `unavailable` when there is no vault, `busy` when others keep
  ///   changing its keys, or why it can't be opened, for example without its key.
  public func verify(
    expecting keys: [StoreKey] = [], progress: ((Int, Int) -> Void)? = nil
  ) throws(StorageError) -> VaultReport {
    let engine = try delegate.vault()
    do throws(StorageError) {
      for _ in 0..<100 {
        if let report = try attempt(engine, keys, progress) { return report }
      }
    } catch {
      guard error.code == .damaged,
        try VaultSchema.isVault(engine.file, until: .now + delegate.deadline)
      else { throw error }
      var report =
        lookPastMemory(engine, keys, progress)
        ?? VaultReport(
          generation: 0, recordCount: 0, otherTagCount: 0, oldKeyCount: 0, findings: [])
      // Even if the rows look sound, the vault can't be used, and the report must say why.
      if !report.findings.contains(where: { [.damagedFile, .rolledBackVault].contains($0.kind) }) {
        report.findings.append(
          .init(kind: .damagedFile, count: 0, keys: [], message: error.finding))
      }
      return report
    }
    throw Self.changingKeys(engine)
  }

  /// Looks at a file that this process can't follow, because it is older than it was or because its
  /// numbers contradict each other.
  ///
  /// - Returns: nil when only the reason why it can't be followed is known.
  private func lookPastMemory(
    _ engine: VaultEngine, _ keys: [StoreKey], _ progress: ((Int, Int) -> Void)?
  ) -> VaultReport? {
    let end = ContinuousClock.now + delegate.deadline
    do throws(StorageError) {
      let opener = try RecordOpener(of: store, in: engine, until: end)
      let past = engine.seen.all
      let connection = try Connection(engine.file.path, .readOnly, until: end)
      return try connection.reading { () throws(StorageError) in
        try VaultVerification.report(
          on: connection, openedBy: opener, expecting: keys, besides: past, progress
        ).report
      }
    } catch {
      return nil
    }
  }

  /// - Returns: nil when the keys were changed meanwhile.
  private func attempt(
    _ engine: VaultEngine, _ keys: [StoreKey], _ progress: ((Int, Int) -> Void)?
  ) throws(StorageError) -> VaultReport? {
    guard let inspector = try store.inspector() else { return try emptyReport(engine) }
    var verification = try VaultVerification(inspector, expecting: keys)
    let past = engine.seen.all
    let report = try engine.follower.reading(waiting: delegate.deadline) {
      (connection) throws(StorageError) -> VaultReport? in
      guard try !connection.hasMoved() else {
        throw StorageError(
          .unavailable,
          "the vault's file was replaced or removed while it was open; close and open the vault, and verify "
            + "what is there now", path: engine.file.path)
      }
      // The keys have to be those of the snapshot.
      let header = try VaultRows.header(connection)
      let (known, version) = engine.memory.withLock { ($0.header, $0.headerVersion) }
      guard header == known, version == inspector.headerVersion,
        let manifestKeys = inspector.manifestKeys
      else { return nil }
      return try verification.run(
        connection, manifestKeys, latest: try SeenCommits.latest(in: connection, past), progress)
    }
    return report ?? nil
  }

  /// The report of a vault without a header.
  private func emptyReport(_ engine: VaultEngine) throws(StorageError) -> VaultReport {
    guard try engine.file.check(mending: false) else {
      throw StorageError(
        .unavailable, "the vault does not exist; check the path", path: engine.file.path)
    }
    return VaultReport(
      generation: 0, recordCount: 0, otherTagCount: 0, oldKeyCount: 0, findings: [])
  }
}
