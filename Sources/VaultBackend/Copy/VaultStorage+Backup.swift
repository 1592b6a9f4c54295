internal import CryptoCore
public import StorageCore

public import struct FoundationEssentials.Data
public import struct FoundationEssentials.URL

extension VaultStorage {
  /// Copies the vault, as it is at one moment, to a file of its own.
  ///
  /// Others may read and write meanwhile. The copy is a vault that the same keys open: sealed as
  /// this one, readable by the owner alone, in place whole and durable or not at all. A passphrase
  /// or a key that is changed later still opens the copies made before.
  ///
  /// - Parameters:
  ///   - url: where to; a missing folder is made for the owner alone.
  ///   - replacing: whether an existing file is replaced, if SQLite finds the copy's structure
  ///     whole; otherwise an existing file is the error `invalid`. The records are not opened,
  ///     since that takes their keys:
  ///     ``verify(expecting:progress:)`` does that.
  ///   - progress: called now and then how many of all pages are done.
  /// - Throws: `StorageError`: `unavailable` when there is no vault to copy, `damaged` when the
  ///   copy is to replace another file and its structure is broken, `busy` when the file that is
  ///   replaced is a vault that somebody has open, `full` and the like.
  public func backup(
    to url: URL, replacing: Bool = false, progress: ((Int, Int) -> Void)? = nil
  ) throws(StorageError) {
    let engine = try delegate.vault()
    let destination = try VaultFile(url, delegate.folderTrust)
    guard destination != engine.file else {
      throw StorageError(.invalid, "a vault can't be its own copy", path: destination.path)
    }
    let end = ContinuousClock.now + delegate.deadline
    let isReplaced = replacing ? try FileStatus.ofEntry(destination.path) != nil : false
    let isDone: Bool? = try engine.follower.reading(waiting: delegate.deadline) {
      (source) throws(StorageError) in
      try VaultCopy.make(destination, replacing: replacing, until: end) {
        (connection) throws(StorageError) in
        try source.copy(to: connection) { progress?($0, $1) }
        guard isReplaced, let fault = try connection.fileFault() else { return }
        throw StorageError(
          .damaged,
          "the vault is damaged: \(fault). The existing backup was kept, and not replaced; verify the "
            + "vault",
          path: engine.file.path)
      }
      return true
    }
    guard isDone != nil else {
      throw StorageError(
        .unavailable, "the vault does not exist, so it can't be copied; check the path",
        path: engine.file.path)
    }
  }

  /// Restores the vault from a backup.
  ///
  /// One atomic step replaces all records and key slots by the backup's; other processes see it as
  /// any other change. If there was no vault, the backup is copied. A file that is too broken for
  /// that is replaced and stays as `<vault>.damaged-<number>`; no other program may have it open
  /// then. The backup must open and be sound.
  ///
  /// - Parameters:
  ///   - url: the backup; it is only read, as with `StoreAccess.readOnly`.
  ///   - keySource: what opens the backup; nil means this storage's own source. That source must
  ///     open the backup in any case, since it opens the vault afterwards.
  ///   - progress: called now and then how many of the backup's records are checked, and how many
  ///     there are.
  /// - Returns: what the vault holds now, and where the old file is.
  /// - Throws: `StorageError`: `readOnly` when the vault was opened read-only, `unavailable` when
  ///   there is no backup, `wrongKey` and the like when it does not open, `damaged` when it is not
  ///   sound, `busy` when the backup was changed after it was verified, or when somebody has a broken vault open; nothing is then changed.
  @discardableResult
  public func restore(
    from url: URL, keySource: KeySource? = nil, progress: ((Int, Int) -> Void)? = nil
  ) throws(StorageError) -> VaultRestoration {
    try requireWritable()
    try store.checkWrite(nil, "restore")
    let engine = try delegate.vault()
    let backup = VaultStorage(
      at: url, keySource: keySource ?? store.keySource, access: .readOnly,
      folderTrust: delegate.folderTrust,
      authenticationTag: Data(store.authenticationTag), deadline: delegate.deadline)
    guard try backup.delegate.vault().file != engine.file else {
      throw StorageError(.invalid, "a vault can't be restored from itself", path: engine.file.path)
    }
    let report = try backup.soundReport(progress)
    if keySource != nil {
      // What is put in place has to open with this storage's own source.
      let own = VaultStorage(
        at: url, keySource: store.keySource, access: .readOnly,
        folderTrust: delegate.folderTrust, deadline: delegate.deadline)
      do throws(StorageError) {
        try own.store.openKeys()
      } catch {
        guard [.wrongKey, .keyUnavailable].contains(error.code) else { throw error }
        throw StorageError(
          error.code,
          "the backup opens with the key that was given for it, but not with the vault's own key, "
            + "which has to open the vault after the restore. Nothing was changed. Restore with a storage "
            + "whose own key source is the key of the backup, then change the vault's key",
          path: backup.delegate.location)
      }
    }
    guard try engine.file.check(mending: false, allowingEmpty: true) else {
      _ = try VaultCopy.make(engine.file, replacing: false, until: .now + delegate.deadline) {
        (connection) throws(StorageError) in
        try backup.copy(to: connection, asIn: report, beyond: engine.seen.greatest)
        try engine.seen.noteRestoration(in: connection)
      }
      return VaultRestoration(recordCount: report.recordCount, oldFile: nil)
    }
    var oldFile: String?
    do throws(StorageError) {
      try replaceRecords(with: backup, engine, of: report)
    } catch {
      // Damage in the backup is no reason to set the vault aside.
      guard error.code == .damaged, error.path == engine.file.path else { throw error }
      oldFile = try replaceFile(with: backup, engine, of: report)
    }
    try store.openKeys()
    return VaultRestoration(recordCount: report.recordCount, oldFile: oldFile)
  }

  /// Puts the backup in the place of a file that SQLite can't read.
  private func replaceFile(
    with backup: VaultStorage, _ engine: VaultEngine, of report: VaultReport
  ) throws(StorageError) -> String? {
    try engine.writer.alone(waiting: delegate.deadline) { (end) throws(StorageError) in
      try engine.writer.replaceFile(until: end) { (connection) throws(StorageError) in
        let latest = max(engine.seen.greatest, Self.lastNumber(of: engine.file))
        try backup.copy(to: connection, asIn: report, beyond: latest)
        try engine.seen.noteRestoration(in: connection)
      }
    }
  }

  /// The number of the last commit of a file that is to be replaced; 0 if SQLite can't read it.
  private static func lastNumber(of file: VaultFile) -> Int64 {
    do throws(StorageError) {
      return try VaultSalvage.lastNumber(of: try Connection(file.path, .immutable, until: .now))
    } catch {
      return 0
    }
  }

  private func replaceRecords(
    with backup: VaultStorage, _ engine: VaultEngine, of report: VaultReport
  ) throws(StorageError) {
    try engine.writer.alone(waiting: delegate.deadline) { (end) throws(StorageError) in
      try engine.writer.withTransaction(until: end, acceptingOlder: true) {
        (transaction: inout VaultTransaction) throws(StorageError) in
        try backup.withSnapshot(asIn: report) {
          (connection, header, keys) throws(StorageError) in
          try transaction.replaceAll(with: connection, header, keys)
        }
      }
    }
  }

  /// The report of a backup that is sound.
  private func soundReport(
    _ progress: ((Int, Int) -> Void)?
  ) throws(StorageError) -> VaultReport {
    let engine = try delegate.vault()
    guard try engine.file.check(mending: false), try store.openKeys() else {
      throw StorageError(
        .unavailable, "the backup does not exist or is empty; check the path",
        path: engine.file.path)
    }
    let report = try verify(progress: progress)
    guard report.isSound else {
      throw StorageError(
        .damaged, "the backup is not sound: \(report.findings[0].message)", path: engine.file.path)
    }
    return report
  }

  /// Copies this backup to an empty file, if it is what was verified.
  ///
  /// - Parameters:
  ///   - destination: the empty file.
  ///   - report: what was verified.
  ///   - latest: the number of the latest known commit of the file that is replaced.
  /// - Throws: `busy` when the backup has changed since it was verified.
  private func copy(
    to destination: Connection, asIn report: VaultReport, beyond latest: Int64
  ) throws(StorageError) {
    try withSnapshot(asIn: report) { (connection, header, keys) throws(StorageError) in
      try connection.copy(to: destination) { _, _ in }
      do throws(StorageError) {
        guard try VaultRows.header(destination) == header,
          let stored = try Manifest.stored(in: destination, keys),
          try Manifest.computed(destination, keys).agrees(with: stored)
        else { throw Self.changedMeanwhile(connection.path) }
        try destination.beginWriting()
        defer { destination.rollBack() }
        let last = Int64(clamping: max(report.generation, stored.generation))
        try VaultCopy.number(VaultRows.number(farBeyond: last, latest), destination, keys)
        try destination.commit()
      } catch {
        // Callers don't know the copy: name the file that was copied.
        throw StorageError(error.code, error.message, path: connection.path, number: error.number)
      }
    }
  }

  /// Lends this backup as it is now, if it was not written to since it was verified.
  private func withSnapshot(
    asIn report: VaultReport,
    _ body: (Connection, [UInt8], ManifestKeys) throws(StorageError) -> Void
  ) throws(StorageError) {
    let source = try delegate.vault()
    let isThere = try source.follower.reading(waiting: delegate.deadline) {
      (connection) throws(StorageError) -> Bool in
      guard try VaultRows.stamps(connection).generation == Int64(report.generation) else {
        throw Self.changedMeanwhile(source.file.path)
      }
      let header = try VaultRows.header(connection)
      let (known, keys) = source.memory.withLock { ($0.header, $0.currentManifestKeys) }
      guard let header, header == known, let keys else {
        throw Self.changedMeanwhile(source.file.path)
      }
      try body(connection, header, keys)
      return true
    }
    guard isThere == true else {
      throw StorageError(
        .unavailable, "the backup was removed; restore from another one", path: source.file.path)
    }
  }

  private static func changedMeanwhile(_ path: String) -> StorageError {
    StorageError(
      .busy, "the backup was changed meanwhile; verify it, and try again", path: path)
  }
}
