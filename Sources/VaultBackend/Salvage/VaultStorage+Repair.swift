internal import CryptoCore
public import StorageCore

extension VaultStorage {
  /// Accepts the vault as it is, after a verification had findings: the manifest is made anew.
  ///
  /// No record is removed unless you ask for that. A damaged record stays as it is: reading it
  /// throws `damaged` until its key is saved or removed, and verifications count it as a record of
  /// another authentication tag, since the two can't be told apart. A file whose structure is
  /// broken is made anew from the records that can still be read; no other program may have the
  /// vault open then, and the old file stays beside the new one. Such a file is read from both ends
  /// of its tree and through its index; a record that neither reaches is only in a backup. If a name
  /// has several records, the one with the greatest sequence number is taken;
  /// ``VaultRepair/unprovenKeys`` lists those that the manifest does not prove. In such a file, records that an interrupted
  /// rotation had still to seal anew look like records planted by somebody with the old keys: all
  /// of them are set aside, as ``VaultRepair/setAsideCount`` says. Rows that are no records are
  /// removed.
  ///
  /// A repair verifies everything once more, which takes as long as
  /// ``verify(expecting:progress:)``: it accepts only what was found, and nothing that changed
  /// since. Other writers wait meanwhile.
  ///
  /// - Parameters:
  ///   - report: what ``verify(expecting:progress:)`` found and the caller accepts.
  ///   - droppingUnreadable: whether all records that do not open here are removed for good, even
  ///     if the vault is sound. This includes records of other authentication tags. Use it for a
  ///     record whose key nobody knows any more.
  /// - Returns: what the vault holds now, and where the old file is.
  /// - Throws: `StorageError`: `readOnly` when the vault was opened read-only, `busy` when it is not
  ///   in the very state that was verified; nothing is then changed.
  @discardableResult
  public func repair(
    accepting report: VaultReport, droppingUnreadable: Bool = false
  ) throws(StorageError) -> VaultRepair {
    try requireWritable()
    guard !report.isSound || droppingUnreadable && report.otherTagCount > 0 else {
      return VaultRepair(
        valueCount: report.recordCount - report.otherTagCount,
        unreadableCount: report.otherTagCount, setAsideCount: 0, droppedCount: 0, unprovenCount: 0,
        unprovenKeys: [], expectedCount: report.recordCount, oldFile: nil)
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
        // With the keys of this header: under other keys a sound record would not open.
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
      droppedCount: droppingUnreadable ? found.closed : 0,
      unprovenCount: droppingUnreadable ? found.unprovenKeys.count : found.unproven,
      unprovenKeys: found.unprovenKeys, expectedCount: expected, oldFile: oldFile)
  }

  /// What ``repair(accepting:droppingUnreadable:)`` would leave, without changing anything.
  ///
  /// It reads and opens all that can be read. If the file's structure is broken, others may write
  /// meanwhile, and a repair may then have another result.
  ///
  /// - Parameters:
  ///   - report: what ``verify(expecting:progress:)`` found.
  ///   - droppingUnreadable: whether what does not open is to be removed.
  /// - Returns: what the vault would hold; without a place for the old file.
  /// - Throws: `StorageError`: why that can't be known. If the header can't be read, for example,
  ///   no repair is possible.
  package func previewRepair(
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
      let (_, keys) = try opener.retiringEndingKeys(in: source)
      var salvage = VaultSalvage(source, report.isBroken ? keys : opener)
      try salvage.run { _, _ in }
      if report.isBroken { _ = try salvage.compare() }
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
    let oldFile = try engine.writer.alone(waiting: delegate.deadline) {
      (end) throws(StorageError) in
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
