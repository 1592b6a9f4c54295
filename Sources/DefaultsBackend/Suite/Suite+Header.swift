internal import CryptoCore
internal import StorageCore

extension Suite {
  /// Lets `body` change the header, alone among all processes and threads.
  ///
  /// All that is waited for on the way shares one deadline.
  func updateHeader(
    waiting deadline: Duration,
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    // A turn of its own, since `body` is the caller's and runs on its thread.
    let ticket = WriteTicket(isAlone: true, until: .now + deadline)
    let leads = queue.enter(ticket)
    precondition(leads, "only its own thread settles a ticket that is alone")
    defer { queue.leave() }
    return try withoutPending(in: ticket) { () throws(StorageError) in
      let all = try HeaderLock.all(file.headerLockPath, waiting: ticket.remaining)
      defer { withExtendedLifetime(all) {} }
      return try withFileLock(waiting: ticket.remaining) { () throws(StorageError) in
        try updateHeader(body)
      }
    }
  }

  private func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    let base = try begin()
    var contents = base.contents
    let records = contents.records
    var changes: [RecordWrite] = []
    do throws(StorageError) {
      let held = HeldRecords(
        isEmpty: records.isEmpty,
        visiting: { (each) throws(StorageError) in
          for (name, record) in records { each(name, record) }
        },
        rewriting: { (rewrite) throws(StorageError) in
          changes = try Self.changes(of: records, rewrite)
        })
      try body(&contents.header, held)
    } catch {
      abandon()
      throw error
    }
    for change in changes { contents.records[change.name] = change.record }
    let isChanged = contents.header != base.contents.header || !changes.isEmpty
    try end(base, with: isChanged ? contents : nil, changes)
    return memory.withLock { $0.headerVersion }
  }

  /// The changes that put other records, and under other names, in the place of those that are there.
  private static func changes(
    of records: [NameHash: [UInt8]], _ rewrite: HeldRecords.Rewriting
  ) throws(StorageError) -> [RecordWrite] {
    var changes: [RecordWrite] = []
    for (name, record) in records {
      guard let (newName, newRecord) = try rewrite(name, record) else { continue }
      if newName != name { changes.append(RecordWrite(nil, for: name)) }
      changes.append(RecordWrite(newRecord, for: newName))
    }
    return changes
  }

  /// Runs `body` with no write pending in this process, nor becoming so.
  private func withoutPending<Result>(
    in ticket: WriteTicket, _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try prepareFolder()
    try withGate { () throws(StorageError) in memory.withLock { $0.refusesLeases = true } }
    defer { memory.withLock { $0.refusesLeases = false } }
    if memory.withLock({ !$0.pending.writes.isEmpty }) {
      try withFileLock(waiting: ticket.remaining) { () throws(StorageError) in
        let base = try begin()
        try end(base, with: base.hasPending ? base.contents : nil, [])
      }
    }
    return try body()
  }
}
