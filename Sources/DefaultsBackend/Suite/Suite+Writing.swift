internal import CryptoCore
internal import StorageCore
internal import Synchronization

extension Suite {
  /// Makes all of `writes` or none, if the header has the given version; durably if that is asked.
  func commit(
    _ writes: [RecordWrite], headerVersion: UInt64, waiting deadline: Duration,
    isSynchronized: Bool
  ) throws(StorageError) -> CommitOutcome {
    if let outcome = try check(writes, headerVersion: headerVersion) { return outcome }
    let ticket = WriteTicket(writes, headerVersion: headerVersion, until: .now + deadline)
    guard isSynchronized else {
      return try queue.alone(waiting: deadline) { (end) throws(StorageError) in
        try withFileLock(waiting: end.remaining) { () throws(StorageError) in
          try commit([ticket], isSynchronized: false)[0]
        }
      }
    }
    // Together with those that wait behind it. One batch may be too large while the others are not.
    return try queue.perform(ticket, aloneAfter: [.full]) {
      (group, isShared) throws(StorageError) in
      try withFileLock(waiting: group[0].remaining) { () throws(StorageError) in
        if isShared { group += queue.takeFollowers() }
        return try commit(group, isSynchronized: true)
      }
    }
  }

  /// The outcome of a commit that only checks.
  ///
  /// Such a commit needs no lock against other processes and no writable folder.
  ///
  /// - Returns: nil for any other commit, and if the contents are not durable: a check that holds
  ///   must be as durable as a write.
  private func check(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome? {
    guard writes.allSatisfy(\.isCheck) else { return nil }
    return try read { memory in
      guard memory.isDurable else { return nil }
      guard memory.headerVersion == headerVersion else { return .headerChanged }
      let holds = writes.allSatisfy { $0.isAllowed(over: memory.contents.records[$0.name]) }
      return holds ? .committed : .conditionFailed
    }
  }

  /// Runs `body` as the only writer among all processes.
  func withFileLock<Result>(
    waiting deadline: Duration, _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try prepareFolder()
    let lock = try FileLock(file.lockPath, waiting: deadline)
    let result = try body()
    _ = consume lock
    return result
  }

  /// Creates the folder if needed; throws if the suite must exist and does not.
  func prepareFolder() throws(StorageError) {
    guard makesNothing, try file.stamp() == .absent else {
      return try file.prepareFolder()
    }
    throw .missing(file.path)
  }

  // MARK: - Under the file lock, in the queue's lead

  private func commit(
    _ group: [WriteTicket], isSynchronized: Bool
  ) throws(StorageError) -> [CommitOutcome] {
    let base = try begin()
    var contents = base.contents
    var outcomes: [CommitOutcome] = []
    var changes: [RecordWrite] = []
    for ticket in group {
      outcomes.append(
        Self.apply(ticket, to: &contents, version: base.headerVersion, changes: &changes))
    }
    let isDue = !changes.isEmpty || isSynchronized && !base.isDurable
    try end(with: isDue ? contents : nil, changes, isSynchronized: isSynchronized)
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

  /// Loads the file's state; readers then use memory alone until ``end(with:_:isSynchronized:)``.
  func begin() throws(StorageError) -> (
    contents: SuiteContents, headerVersion: UInt64, isDurable: Bool
  ) {
    try withGate { () throws(StorageError) in
      memory.withLock { memory in
        memory.isCommitting = true
        return (memory.contents, memory.headerVersion, memory.isDurable)
      }
    }
  }

  /// Writes `contents`, if given, and then shows them to readers and observers.
  func end(
    with contents: SuiteContents?, _ changes: [RecordWrite], isSynchronized: Bool = true
  ) throws(StorageError) {
    guard let contents else { return abandon() }
    let written: SuiteFile.Loaded
    do throws(StorageError) {
      written = try file.replace(with: contents, isSynchronized: isSynchronized)
    } catch {
      fail(error)
      throw error
    }
    memory.withLock { memory in
      memory.adopt(written)
      memory.isDurable = isSynchronized
      memory.isCommitting = false
      for change in changes { notify(change.name, change.record, memory) }
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
