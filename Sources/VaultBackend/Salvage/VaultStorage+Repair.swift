internal import CryptoCore
public import StorageCore

extension VaultStorage {
  /// Takes the vault as it is, after a verification found it otherwise: the manifest is made anew.
  ///
  /// No record is removed unless that is asked for: a damaged one stays as it is, and is read as
  /// `damaged` until its key is saved or removed; it counts from then on as one of another
  /// authentication tag, from which it can't be told apart. A file whose structure is broken is made
  /// anew out of the records that can still be read, for which no other program may have the vault
  /// open; the old one stays beside it. All pages of such a file are searched for records, see
  /// ``VaultRepair/walkedCount``, if it has at most 1 GiB, which takes as much memory. Where a name has several
  /// records, that one is taken which the manifest proves, wherever it was found, and else the one of the
  /// greatest sequence number; ``VaultRepair/unprovenKeys`` are those that the manifest does not prove. Of such
  /// a file nobody can tell what a rotation that was interrupted had still to seal anew, and what somebody put
  /// there who has the old keys: those records are set aside, as ``VaultRepair/setAsideCount`` says. Rows that
  /// are no records are removed.
  ///
  /// It looks at everything once more, so it takes as long again as ``verify(expecting:progress:)``: only
  /// what was found is accepted, and nothing that changed since. Others wait to write for as long.
  ///
  /// - Parameters:
  ///   - report: what ``verify(expecting:progress:)`` found and the caller accepts.
  ///   - droppingUnreadable: whether all records are removed for good that do not open here, also
  ///     where the vault is sound: those of other authentication tags are among them. It is the way
  ///     out for a record whose key nobody knows any more.
  /// - Returns: what the vault holds now, and where the old file is.
  /// - Throws: `StorageError`: `busy` when the vault is not in the very state that was verified; nothing
  ///   is then changed.
  @discardableResult
  public func repair(
    accepting report: VaultReport, droppingUnreadable: Bool = false
  ) throws(StorageError) -> VaultRepair {
    guard !report.isSound || droppingUnreadable && report.otherTagCount > 0 else {
      return VaultRepair(
        valueCount: report.recordCount - report.otherTagCount,
        unreadableCount: report.otherTagCount, setAsideCount: 0, droppedCount: 0, walkedCount: 0,
        unprovenCount: 0, unprovenKeys: [], expectedCount: report.recordCount, oldFile: nil)
    }
    let engine = try delegate.vault()
    let opener = try RecordOpener(of: store, in: engine, until: .now + delegate.deadline)
    guard !report.isBroken else {
      return try rebuild(engine, report, opener, droppingUnreadable)
    }
    var result: VaultRepair?
    try engine.writer.alone(waiting: delegate.deadline) { (end) throws(StorageError) in
      engine.gate.forgetPages()
      try engine.writer.withTransaction(until: end, acceptingOlder: true) {
        (transaction: inout VaultTransaction) throws(StorageError) in
        let connection = transaction.connection
        let closed = try VaultVerification.requireSame(
          as: report, on: connection, openedBy: opener, besides: engine.seen.all)
        // With the keys of this very header: under others a record that is well would not open.
        let opener = try opener.following(connection)
        let expected = try opener.expectedCount(in: connection)
        if droppingUnreadable { try transaction.drop(closed) }
        try VaultRows.removeStrays(connection)
        transaction.goOn()
        try engine.seen.noteRestoration(in: connection)
        try transaction.recompute(under: opener.manifestKeys)
        let found = VaultSalvage.Result(
          opened: report.recordCount - closed.count, closed: closed.count,
          unproven: report.unprovenCount, unprovenKeys: report.unprovenKeys)
        result = Self.repair(found, droppingUnreadable, expected, oldFile: nil)
      }
    }
    guard let result else {
      throw StorageError(.io, "the repair was dropped; this is a bug", path: engine.file.path)
    }
    return result
  }

  private static func repair(
    _ found: VaultSalvage.Result, _ droppingUnreadable: Bool, _ expected: Int?, oldFile: String?
  ) -> VaultRepair {
    VaultRepair(
      valueCount: found.opened, unreadableCount: droppingUnreadable ? 0 : found.closed,
      setAsideCount: droppingUnreadable ? 0 : found.setAside,
      droppedCount: droppingUnreadable ? found.closed : 0, walkedCount: found.walked,
      unprovenCount: droppingUnreadable ? found.unprovenKeys.count : found.unproven,
      unprovenKeys: found.unprovenKeys, expectedCount: expected, oldFile: oldFile)
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
      throw StorageError(
        .unavailable, "the vault does not exist; check the path", path: engine.file.path)
    }
    let end = ContinuousClock.now + delegate.deadline
    let opener = try RecordOpener(of: store, in: engine, until: end)
    let past = engine.seen.all
    let source = try Connection(engine.file.path, .readOnly, until: end)
    return try source.reading { () throws(StorageError) in
      if !report.isSound || droppingUnreadable {
        _ = try VaultVerification.requireSame(
          as: report, on: source, openedBy: opener, besides: past)
      }
      let opener = try opener.following(source)
      let expected = try opener.expectedCount(in: source)
      let (_, keys) = try opener.settled(in: source)
      var salvage = VaultSalvage(source, report.isBroken ? keys : opener)
      try salvage.run(walking: report.isBroken) { _, _ in }
      var found = salvage.result
      if !report.isBroken {
        found.setAside = 0
        (found.unproven, found.unprovenKeys) = (report.unprovenCount, report.unprovenKeys)
      }
      return Self.repair(found, droppingUnreadable, expected, oldFile: nil)
    }
  }

  /// Makes the file anew out of the rows that can still be read.
  private func rebuild(
    _ engine: VaultEngine, _ report: VaultReport, _ opener: RecordOpener,
    _ droppingUnreadable: Bool
  ) throws(StorageError) -> VaultRepair {
    var found = VaultSalvage.Result()
    var expected: Int?
    let oldFile = try engine.writer.alone(waiting: delegate.deadline) { (end) throws(StorageError) in
      try engine.writer.replaceFile(until: end) { (connection) throws(StorageError) in
        // Nobody else has the file open, nor can, until the new one is in its place.
        let source = try Connection(engine.file.path, .immutable, until: end)
        let past = engine.seen.all
        _ = try VaultVerification.requireSame(
          as: report, on: source, openedBy: opener, besides: past)
        let opener = try opener.following(source)
        expected = try opener.expectedCount(in: source)
        found = try VaultSalvage.copy(
          source, to: connection, openedBy: opener,
          beyond: engine.seen.greatest,
          droppingUnreadable: droppingUnreadable)
        try engine.seen.noteRestoration(in: connection)
      }
    }
    return Self.repair(found, droppingUnreadable, expected, oldFile: oldFile)
  }
}
