internal import CryptoCore
public import StorageCore

extension VaultStorage {
  /// Takes the vault as it is, after a verification found it otherwise: the manifest is made anew.
  ///
  /// No record is removed unless that is asked for: a damaged one stays as it is, and is read as
  /// `damaged` until its key is saved or removed; it counts from then on as one of another
  /// authentication tag, from which it can't be told apart. A file whose structure is broken is made
  /// anew out of the records that can still be read, for which no other program may have the vault
  /// open; the old one stays beside it.
  ///
  /// - Parameters:
  ///   - report: what ``verify(expecting:progress:)`` found and the caller accepts.
  ///   - droppingUnreadable: whether all records are removed for good that do not open here, also
  ///     where the vault is sound: those of other authentication tags are among them. It is the way
  ///     out for a record whose key nobody knows any more.
  /// - Returns: what the vault holds now, and where the old file is.
  /// - Throws: `StorageError`: `busy` when somebody has written since; nothing is then changed. What
  ///   fails after a broken file was made anew leaves the new one, and the old one beside it.
  @discardableResult
  public func repair(
    accepting report: VaultReport, droppingUnreadable: Bool = false
  ) throws(StorageError) -> VaultRepair {
    let isBroken = report.isBroken
    guard !report.isSound || droppingUnreadable && report.otherTagCount > 0 else {
      return VaultRepair(
        valueCount: report.recordCount - report.otherTagCount,
        unreadableCount: report.otherTagCount, droppedCount: 0, expectedCount: report.recordCount,
        oldFile: nil)
    }
    let engine = try delegate.vault()
    let opener = try RecordOpener(of: store, in: engine, until: .now + delegate.deadline)
    let oldFile = isBroken ? try rebuild(engine, report, opener) : nil
    var result: VaultRepair?
    try engine.alone(waiting: delegate.deadline) { (end) throws(StorageError) in
      engine.forgetPages()
      try engine.withTransaction(until: end) {
        (transaction: inout VaultTransaction) throws(StorageError) in
        guard isBroken || transaction.sequence == Int64(report.generation) else {
          throw Self.writtenSince(engine)
        }
        // With the keys of this very header: under others a record that is well would not open.
        let opener = try opener.following(transaction.connection)
        let expected = try opener.expectedCount(in: transaction.connection)
        let (opened, closed) = try sorted(transaction.connection, opener)
        if droppingUnreadable { try transaction.drop(closed) }
        try transaction.recompute(under: opener.manifestKeys)
        result = VaultRepair(
          valueCount: opened, unreadableCount: droppingUnreadable ? 0 : closed.count,
          droppedCount: droppingUnreadable ? closed.count : 0, expectedCount: expected,
          oldFile: oldFile)
      }
    }
    guard let result else {
      throw StorageError(.io, "the repair was dropped; this is a bug", path: engine.file.path)
    }
    return result
  }

  /// What ``repair(accepting:droppingUnreadable:)`` would leave, without changing anything.
  ///
  /// It reads and opens all that can be read. Of a file whose structure is broken others may write
  /// meanwhile, so it need not be what becomes of it.
  ///
  /// - Parameters:
  ///   - report: what ``verify(expecting:progress:)`` found.
  ///   - droppingUnreadable: whether what does not open is to be removed.
  /// - Returns: what the vault would hold; without a place for the old file.
  /// - Throws: `StorageError`: why that can't be known, as when the header can't be read; then there
  ///   is nothing to repair with.
  public func previewRepair(
    accepting report: VaultReport, droppingUnreadable: Bool = false
  ) throws(StorageError) -> VaultRepair {
    let engine = try delegate.vault()
    guard try engine.file.check(mending: false) else {
      throw StorageError(.unavailable, "there is no vault", path: engine.file.path)
    }
    let end = ContinuousClock.now + delegate.deadline
    let opener = try RecordOpener(of: store, in: engine, until: end)
    let source = try Connection(engine.file.path, .readOnly, until: end)
    return try source.reading { () throws(StorageError) in
      let opener = try opener.following(source)
      let expected = try opener.expectedCount(in: source)
      var salvage = VaultSalvage(source, opener)
      try salvage.run { _, _ in }
      let closed = salvage.closedCount
      return VaultRepair(
        valueCount: salvage.openedCount, unreadableCount: droppingUnreadable ? 0 : closed,
        droppedCount: droppingUnreadable ? closed : 0, expectedCount: expected, oldFile: nil)
    }
  }

  /// How many records open, and the names of those that do not.
  private func sorted(
    _ connection: Connection, _ opener: RecordOpener
  ) throws(StorageError) -> (opened: Int, closed: [NameHash]) {
    var opened = 0
    var closed: [NameHash] = []
    try VaultRows.visit(connection) { (name, record) throws(StorageError) in
      if try opener.opens(record, under: name) { opened += 1 } else { closed.append(name) }
    }
    return (opened, closed)
  }

  /// Makes the file anew out of the rows that can still be read.
  ///
  /// - Returns: the name under which the old file stays beside the new one.
  private func rebuild(
    _ engine: VaultEngine, _ report: VaultReport, _ opener: RecordOpener
  ) throws(StorageError) -> String? {
    try engine.alone(waiting: delegate.deadline) { (end) throws(StorageError) in
      try engine.replaceFile(until: end) { (connection) throws(StorageError) in
        // Nobody else has the file open, nor can, until the new one is in its place.
        let source = try Connection(engine.file.path, .immutable, until: end)
        // Where either can't be read there is nothing to compare.
        if report.generation > 0, let now = try Self.generation(of: source),
          now != report.generation
        {
          throw Self.writtenSince(engine)
        }
        try VaultSalvage.copy(source, to: connection, openedBy: opener)
      }
    }
  }

  /// The sequence number of the last commit, or nil where it can't be read.
  private static func generation(of source: Connection) throws(StorageError) -> UInt64? {
    do throws(StorageError) {
      return UInt64(try VaultRows.stamps(source).generation)
    } catch {
      guard error.code == .damaged else { throw error }
      return nil
    }
  }

  private static func writtenSince(_ engine: VaultEngine) -> StorageError {
    StorageError(
      .busy, "the vault was written to since it was verified; verify it again",
      path: engine.file.path)
  }
}

extension VaultReport {
  /// Whether the file is to be made anew.
  fileprivate var isBroken: Bool { findings.contains { $0.kind == .damagedFile } }
}
