internal import CryptoCore

extension SealedStore {
  /// Runs `body` until everything it read still holds at the moment when its writes are committed.
  ///
  /// - Parameters:
  ///   - deadline: how long; nil for the usual time.
  ///   - asksEngine: whether a shared store's engine is asked before an error or the result of reads
  ///     alone leaves the call.
  ///   - body: reads and writes.
  /// - Returns: what the last run of `body` returned.
  /// - Throws: what `body` throws, or `StorageError`.
  package func transaction<Result>(
    within deadline: Duration?, asksEngine: Bool = true,
    _ body: (StorageTransaction) throws -> Result
  ) throws -> Result {
    guard keys.hasHeader else {
      throw StorageError(
        .unsupported, "this storage's delegate can't compare records, so it has no transactions")
    }
    return try BodyRuns.during(self, deadline, asksEngine: asksEngine) { runs in
      while true {
        let transaction = StorageTransaction(self, runs)
        defer { transaction.end() }
        let outcome = Swift.Result<Result, any Error> {
          try Reentry.during(
            identity, "transaction", dependsOn: transaction.hasSeen(_:),
            { try body(transaction) })
        }
        if try isFinal(outcome, transaction, &runs) { return try outcome.get() }
        guard !runs.isOver else {
          throw StorageError(
            .busy,
            "others kept writing to values that the transaction had read; \(Self.writingAdvice)")
        }
      }
    }
  }

  /// Commits what a body wrote, or checks what it read, and says whether its outcome counts.
  private func isFinal<Result>(
    _ outcome: Swift.Result<Result, any Error>, _ transaction: StorageTransaction,
    _ runs: inout BodyRuns
  ) throws(StorageError) -> Bool {
    let items = transaction.items
    let reads = items.filter { $0.seen != nil }.map { ($0.name, $0.seenRecord) }
    switch outcome {
    case .failure where runs.asksEngine: return try runs.holds(reads)
    case .failure: return runs.isOver || !isOutdated(items)
    case .success:
      try transaction.requireOwn()
      let written = items.filter { $0.written != nil }
      for item in written { try checkWrite(item.name, "write in a transaction") }
      if written.isEmpty, distantPlace != nil {
        return runs.asksEngine ? try runs.holds(reads) : !isOutdated(items)
      }
      if try commitTelling(items) { return true }
      try runs.readAgain(reads.map(\.0))
      return false
    }
  }

  /// The same for a body that throws only `StorageError`.
  package func transaction<Result>(
    within deadline: Duration? = nil,
    typed body: (StorageTransaction) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try storageErrors {
      try transaction(within: deadline) { transaction in try body(transaction) }
    }
  }

  /// Whether a body's error may come from reads that never held at the same moment.
  ///
  /// A body that sees parts of two different commits may well throw. This reads the records and
  /// commits nothing, because a store that can't be written can still be read. Read errors stay as
  /// they are.
  private func isOutdated(_ items: [TransactionItem]) -> Bool {
    do throws(StorageError) {
      for item in items where item.seen != nil {
        // No two records have the same bytes: an equal record was there all the time.
        if try fetch(item.name)?.record != item.seenRecord { return true }
      }
      return false
    } catch {
      return false  // the caller gets the error that the body threw first
    }
  }

  private func commitTelling(_ items: [TransactionItem]) throws(StorageError) -> Bool {
    do throws(StorageError) {
      guard try commit(items) else { return false }
      let count = items.count { $0.written != nil }
      if count > 0 { events.tell(.wrote(count)) }
      return true
    } catch {
      events.tell(.failedToWrite(error.code))
      throw error
    }
  }

  /// Commits the writes of a transaction if everything it read is unchanged.
  ///
  /// - Returns: whether everything was unchanged.
  private func commit(_ items: [TransactionItem]) throws(StorageError) -> Bool {
    let makesStore = items.contains { $0.payload != nil }
    for _ in Attempts() {
      guard let open = makesStore ? try keys.forWriting() : try keys.forReading() else {
        // A new or removed store has no records.
        return items.allSatisfy { $0.seenRecord == nil }
      }
      guard let writes = try writes(of: items, open) else { continue }
      if writes.isEmpty { return true }
      switch try place.commit(writes, headerVersion: open.headerVersion) {
      case .committed:
        for item in items where item.written != nil { failedReads.forget(item.name.text) }
        return true
      case .conditionFailed: return false
      case .headerChanged: try keys.refresh()
      }
    }
    throw StorageError(.busy, "another program kept changing the store's keys; try again")
  }

  /// The items as writes; nil when the keys must be reloaded first.
  private func writes(
    of items: [TransactionItem], _ open: OpenKeys
  ) throws(StorageError) -> [RecordWrite]? {
    var writes: [RecordWrite] = []
    writes.reserveCapacity(items.count)
    // A record that seemed absent may have been hidden, so a place whose manifest accounts for
    // removals is told of every removal.
    let countsRemovals = manifestPlace != nil
    for item in items {
      let context = try item.name.context(in: open)
      switch item.written {
      case .payload(let payload):
        let record = try seal(payload.bytes, context, open, item.name.text)
        guard let record else { return nil }
        writes.append(RecordWrite(record, for: context.name, if: item.condition))
      case .nothing where item.condition != .absent || countsRemovals:
        writes.append(RecordWrite(nil, for: context.name, if: item.condition))
      case .nothing, nil:
        // The transaction used the name, but neither read nor wrote it.
        guard item.seen != nil else { continue }
        writes.append(.check(item.seenRecord, for: context.name))
      }
    }
    return writes
  }

  /// Opens a record and records whether its name could be read.
  func openRemembering(
    _ sealed: Sealed, _ name: RecordName, _ body: (RawSpan) throws(StorageError) -> Void
  ) throws(StorageError) {
    do throws(StorageError) {
      try open(sealed, name.text, body)
      failedReads.forget(name.text)
    } catch {
      failedReads.remember(name, error)
      throw error
    }
  }
}
