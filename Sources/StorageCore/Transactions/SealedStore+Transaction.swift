internal import CryptoCore

extension SealedStore {
  /// How long a transaction is made again after others' writes unless said otherwise.
  static var transactionDeadline: Duration { .seconds(30) }

  /// Runs `body` until all that it read was there at one moment, at which its writes are made.
  ///
  /// - Returns: what `body` returned the last time.
  func transaction<Result>(
    within deadline: Duration, _ body: (StorageTransaction) throws -> Result
  ) throws -> Result {
    guard keyed != nil else {
      throw StorageError(
        .unsupported, "this storage's delegate can't compare, so it has no transactions")
    }
    let start = ContinuousClock.now
    while true {
      let transaction = StorageTransaction(self)
      defer { transaction.end() }
      let result: Result
      do {
        result = try body(transaction)
      } catch {
        guard start.duration(to: .now) < deadline, isOutdated(transaction.items) else {
          throw error
        }
        continue
      }
      if try commitTelling(transaction.items) { return result }
      guard start.duration(to: .now) < deadline else {
        throw StorageError(
          .busy, "other writers kept changing what the transaction had read; try again")
      }
    }
  }

  /// The same for a body that throws no other error.
  func transaction<Result>(
    within deadline: Duration,
    typed body: (StorageTransaction) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    do {
      return try transaction(within: deadline) { transaction in try body(transaction) }
    } catch let error as StorageError {
      throw error
    } catch {
      throw StorageError(.io, "an error of another kind, \(type(of: error)); this is a bug")
    }
  }

  /// Whether the error of a body may come from reads that were never true together.
  ///
  /// A body that is told of two halves of different commits may well throw. Looked up and not
  /// committed: what can't be written to can be read, and an error of reading is told as it is.
  private func isOutdated(_ items: [TransactionItem]) -> Bool {
    do throws(StorageError) {
      for item in items where item.seen != nil {
        // No two records are the same bytes: one that is there again was there all the time.
        if try fetch(item.name)?.record != item.seenRecord { return true }
      }
      return false
    } catch {
      return false  // the caller gets the error of the body, which came first
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

  /// Makes the writes of a transaction if all that it read is still there.
  ///
  /// - Returns: whether it is.
  private func commit(_ items: [TransactionItem]) throws(StorageError) -> Bool {
    guard let keyed else { return false }
    let makesStore = items.contains { $0.payload != nil }
    for _ in 0..<Self.attempts {
      guard let open = makesStore ? try keys.forWriting() : try keys.forReading() else {
        // A store that is new, or was removed, has no records.
        return items.allSatisfy { $0.seenRecord == nil }
      }
      guard let writes = try writes(of: items, open) else { continue }
      if writes.isEmpty { return true }
      switch try keyed.commit(writes, headerVersion: open.headerVersion) {
      case .committed:
        for item in items where item.written != nil { unreadable.forget(item.name.text) }
        return true
      case .conditionFailed: return false
      case .headerChanged: try keys.refresh()
      }
    }
    throw StorageError(.busy, "another program kept changing the store's keys; try again")
  }

  /// The items as writes, or nil when the keys have to be looked at again first.
  private func writes(
    of items: [TransactionItem], _ open: OpenKeys
  ) throws(StorageError) -> [RecordWrite]? {
    var writes: [RecordWrite] = []
    writes.reserveCapacity(items.count)
    // Who seemed absent may have been hidden: what keeps account of removals is told of each.
    let countsRemovals = keyed is any AccountsDelegate
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
        // A name that was mentioned, and neither read nor written.
        guard item.seen != nil else { continue }
        writes.append(.check(item.seenRecord, for: context.name))
      }
    }
    return writes
  }

  /// Opens a record, and remembers whether its name could be read.
  func openRemembering(
    _ sealed: Sealed, _ name: RecordName, _ body: (RawSpan) throws(StorageError) -> Void
  ) throws(StorageError) {
    do throws(StorageError) {
      try open(sealed, name.text, body)
      unreadable.forget(name.text)
    } catch {
      unreadable.remember(name.text, error)
      throw error
    }
  }
}
