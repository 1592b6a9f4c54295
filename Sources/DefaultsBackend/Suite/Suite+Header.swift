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
    do throws(StorageError) {
      let held = HeldRecords(isEmpty: records.isEmpty) { (each) throws(StorageError) in
        for (name, record) in records { each(name, record) }
      }
      try body(&contents.header, held)
    } catch {
      abandon()
      throw error
    }
    try end(base, with: contents.header == base.contents.header ? nil : contents, [])
    return memory.withLock { $0.headerVersion }
  }

  /// Runs `body` with no write pending in this process, nor becoming so.
  private func withoutPending<Result>(
    in ticket: WriteTicket, _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try file.prepareFolder()
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
