internal import CryptoCore
internal import StorageCore
internal import Synchronization

extension Suite {
  /// Makes all of `writes` or none, durably, if the header has the given version.
  func commit(
    _ writes: [RecordWrite], headerVersion: UInt64, waiting deadline: Duration
  ) throws(StorageError) -> CommitOutcome {
    if let outcome = try check(writes, headerVersion: headerVersion) { return outcome }
    return try perform(WriteTicket(writes, headerVersion: headerVersion, until: .now + deadline))
  }

  /// The outcome of a commit that only checks.
  ///
  /// Such a commit needs no lock against other processes and no writable folder.
  ///
  /// - Returns: nil for any other commit, and while writes are pending: a check that holds must be
  ///   as durable as a write.
  private func check(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome? {
    guard writes.allSatisfy(\.isCheck) else { return nil }
    return try read { memory in
      guard memory.pending.writes.isEmpty else { return nil }
      guard memory.headerVersion == headerVersion else { return .headerChanged }
      let holds = writes.allSatisfy { $0.isAllowed(over: memory.record(for: $0.name)) }
      return holds ? .committed : .conditionFailed
    }
  }

  /// Writes the pending writes; ``flush(waiting:)`` reports dropped ones.
  func writePending(waiting deadline: Duration) throws(StorageError) {
    leaveParentsWrites()
    guard memory.withLock({ !$0.pending.writes.isEmpty }) else { return }
    _ = try perform(WriteTicket(until: .now + deadline))
  }

  /// Writes the batch together with those that wait behind it.
  private func perform(_ ticket: WriteTicket) throws(StorageError) -> CommitOutcome {
    // One batch may be too large while the others are not.
    try queue.perform(ticket, aloneAfter: [.full]) { (group, isShared) throws(StorageError) in
      try withFileLock(waiting: group[0].remaining) { () throws(StorageError) in
        if isShared { group += queue.takeFollowers() }
        return try commit(group)
      }
    }
  }

  /// Runs `body` as the only writer among all processes.
  ///
  /// A failure here, or in `body`, also keeps pending writes out of the file. Until they are in the
  /// file, no further write is acknowledged early.
  func withFileLock<Result>(
    waiting deadline: Duration, _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    leaveParentsWrites()
    do throws(StorageError) {
      try prepareFolder()
      let lock = try FileLock(file.lockPath, waiting: deadline)
      let result = try body()
      _ = consume lock
      return result
    } catch {
      memory.withLock { memory in
        if !memory.pending.writes.isEmpty { memory.pending.hasFailed = true }
      }
      scheduleRetry()
      throw error
    }
  }

  /// Creates the folder if needed; throws if the suite must exist and does not.
  func prepareFolder() throws(StorageError) {
    guard makesNothing, try file.stamp() == .absent else {
      return try file.prepareFolder()
    }
    throw .missing(file.path)
  }

  // MARK: - Under the file lock, in the queue's lead

  /// The state from which a commit starts.
  struct Base {
    var contents: SuiteContents
    let headerVersion: UInt64
    /// `contents` includes the pending writes up to this number.
    let sequence: UInt64
    let hasPending: Bool
  }

  private func commit(_ group: [WriteTicket]) throws(StorageError) -> [CommitOutcome] {
    let base = try begin()
    var contents = base.contents
    var outcomes: [CommitOutcome] = []
    var changes: [RecordWrite] = []
    for ticket in group {
      outcomes.append(
        Self.apply(ticket, to: &contents, version: base.headerVersion, changes: &changes))
    }
    try end(base, with: base.hasPending || !changes.isEmpty ? contents : nil, changes)
    return outcomes
  }

  /// Applies a batch's writes to `contents` if its conditions hold.
  ///
  /// All conditions refer to the state before the batch.
  private static func apply(
    _ ticket: WriteTicket, to contents: inout SuiteContents, version: UInt64,
    changes: inout [RecordWrite]
  ) -> CommitOutcome {
    if let expected = ticket.headerVersion, expected != version { return .headerChanged }
    for write in ticket.writes {
      guard write.isAllowed(over: contents.records[write.name]) else { return .conditionFailed }
    }
    for write in ticket.writes where !write.isCheck {
      // Removing an absent record changes nothing, and observers are not notified.
      guard write.record != nil || contents.records[write.name] != nil else { continue }
      contents.records[write.name] = write.record
      changes.append(write)
    }
    return .committed
  }

  /// Loads the file's state; readers then use memory alone until ``end(_:with:_:)``.
  func begin() throws(StorageError) -> Base {
    try withGate { () throws(StorageError) in
      var hasDiscarded = false
      let base = memory.withLock { memory in
        let discarded = memory.discardForeignPending()
        hasDiscarded = !discarded.isEmpty
        for name in discarded {
          // Observers were notified of the dropped write. Its name belongs to the earlier file, so
          // the notice has no version: a version would say that the name is hashed as now.
          observers.notify(RecordChange(name: name, record: memory.contents.records[name]))
        }
        memory.isCommitting = true
        var contents = memory.contents
        for (name, write) in memory.pending.writes { contents.records[name] = write.record }
        return Base(
          contents: contents, headerVersion: memory.headerVersion,
          sequence: memory.pending.sequence, hasPending: !memory.pending.writes.isEmpty)
      }
      if hasDiscarded { StorageDiagnostics.report(Self.foreign(file.path)) }
      return base
    }
  }

  /// Writes `contents`, if given, and then shows them to readers and observers.
  func end(
    _ base: Base, with contents: SuiteContents?, _ changes: [RecordWrite]
  ) throws(StorageError) {
    guard let contents else { return abandon() }
    let written: SuiteFile.Loaded
    do throws(StorageError) {
      written = try file.replace(with: contents)
    } catch {
      fail(error)
      throw error
    }
    memory.withLock { memory in
      memory.adopt(written)
      memory.isCommitting = false
      memory.pending.drop(upTo: base.sequence)
      if memory.pending.writes.isEmpty { memory.lease = nil }
      // Observers already got the notice of a later pending write.
      for change in changes where memory.pending.writes[change.name] == nil {
        notify(change.name, change.record, memory)
      }
    }
  }

  /// Ends a commit that changed nothing.
  func abandon() {
    memory.withLock { $0.isCommitting = false }
  }

  private func fail(_ error: StorageError) {
    memory.withLock { memory in
      memory.isCommitting = false
      if error.code == .outcomeUnknown { memory.forget() }
    }
  }
}
