internal import CryptoCore
internal import StorageCore
internal import Synchronization

extension VaultEngine {
  /// The log is copied into the file when it has this many frames of 4 KiB.
  private static let checkpointThreshold: UInt32 = 1000
  /// How long readers are waited for when the log is to be emptied.
  private static let scrubPatience: Duration = .seconds(1)

  /// Makes all of `writes` or none, durably, if the header is that of the version.
  func commit(
    _ writes: [RecordWrite], headerVersion: UInt64, waiting deadline: Duration
  ) throws(StorageError) -> CommitOutcome {
    let ticket = WriteTicket(writes, headerVersion: headerVersion, until: .now + deadline)
    if queue.enter(ticket) {
      defer { queue.leave() }
      lead(ticket)
    }
    guard let result = ticket.result else {
      throw StorageError(.io, "the write was dropped; this is a bug", path: file.path)
    }
    return try result.get()
  }

  /// Writes the batch and those that wait behind it in one transaction, and settles each.
  private func lead(_ ticket: WriteTicket) {
    var group = [ticket]
    do throws(StorageError) {
      var outcomes: [CommitOutcome] = []
      try withTransaction(until: ticket.end) {
        (transaction: inout VaultTransaction) throws(StorageError) in
        let version = memory.withLock { $0.headerVersion }
        // Those that come while the others are written share the sync as well.
        while outcomes.count < group.count {
          outcomes.append(try Self.apply(group[outcomes.count], version, &transaction))
          group += queue.takeFollowers()
        }
      }
      for (ticket, outcome) in zip(group, outcomes) { ticket.settle(.success(outcome)) }
    } catch {
      // One batch may be too large where the others are not.
      if group.count > 1, [.full, .invalid].contains(error.code) {
        for ticket in group { retry(ticket) }
      } else {
        for ticket in group { ticket.settle(.failure(error)) }
      }
    }
  }

  private func retry(_ ticket: WriteTicket) {
    do throws(StorageError) {
      var outcome = CommitOutcome.committed
      try withTransaction(until: ticket.end) {
        (transaction: inout VaultTransaction) throws(StorageError) in
        outcome = try Self.apply(ticket, memory.withLock { $0.headerVersion }, &transaction)
      }
      ticket.settle(.success(outcome))
    } catch {
      ticket.settle(.failure(error))
    }
  }

  /// Makes a batch's writes if it may.
  ///
  /// All conditions are about what was there before the batch.
  private static func apply(
    _ ticket: WriteTicket, _ version: UInt64, _ transaction: inout VaultTransaction
  ) throws(StorageError) -> CommitOutcome {
    if let expected = ticket.headerVersion, expected != version { return .headerChanged }
    for write in ticket.writes {
      if case .always = write.condition { continue }
      guard write.isAllowed(over: try transaction.record(write.name)) else {
        return .conditionFailed
      }
    }
    transaction.reserve(ticket.writes.count)
    for write in ticket.writes where !write.isCheck {
      try transaction.set(write.record, for: write.name)
    }
    return .committed
  }

  // MARK: - Transactions

  /// Runs `body` as the only writer among all processes, and makes durable what it changed.
  ///
  /// To be called by whoever leads the queue.
  ///
  /// - Throws: `StorageError`, or what `body` throws; nothing is then changed, except with
  ///   `outcomeUnknown`.
  func withTransaction(
    until end: ContinuousClock.Instant, scrubbing: Bool = false,
    _ body: (inout VaultTransaction) throws(StorageError) -> Void
  ) throws(StorageError) {
    guard access == .readWrite else {
      throw StorageError(.readOnly, "the vault was opened for reading alone", path: file.path)
    }
    let opened = try openForWriting(until: end)
    let connection = opened.main
    connection.wait(until: end)
    try connection.beginWriting()
    defer { connection.rollBack() }
    let hasWritten = try gate.withLock { (_) throws(StorageError) in
      try write(opened, body)
    }
    guard hasWritten else { return }
    notice.post()
    if scrubbing || isScrubNeeded.load(ordering: .relaxed) {
      try scrub()
    } else {
      tidyUp(opened)
    }
  }

  /// The open file, made if need be, and open anew if it was replaced.
  private func openForWriting(
    until end: ContinuousClock.Instant
  ) throws(StorageError) -> OpenedVault {
    try gate.withLock { (opened) throws(StorageError) in
      let deadline = ContinuousClock.now.duration(to: end)
      if let current = opened {
        try current.requireSameProcess()
        if try current.main.hasMoved() { close(&opened) }
      }
      if let opened = try open(&opened, waiting: deadline) { return opened }
      try file.create()
      guard let opened = try open(&opened, waiting: deadline) else {
        throw StorageError(
          .unavailable, "the vault was removed as soon as it was made", path: file.path)
      }
      return opened
    }
  }

  /// Under the gate and SQLite's write lock.
  private func write(
    _ opened: OpenedVault, _ body: (inout VaultTransaction) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    guard case .index(let index) = opened.watch else { return false }
    // Nobody else can write now, so the state stays what it is until the commit.
    let before = index.state
    if !memory.withLock({ $0.isCurrent(nil) }) {
      try catchUp(opened.main, .live(index, before))
    }
    var transaction = try VaultTransaction(opened.main, self)
    try body(&transaction)
    guard !transaction.isEmpty else { return false }
    try transaction.commit()
    let after = index.state
    // Another process may have written since: then memory is to be brought up to date again.
    let isOurs = after.changes == before.changes &+ 1
    memory.withLock { memory in
      if let header = transaction.header { memory.adopt(header: header) }
      // Then all is read anew at the next access, here as in every other process.
      if transaction.isWholesale { return memory.doubt() }
      for change in transaction.changes { memory.keep(change.record, for: change.name) }
      memory.keep(isOurs ? transaction.manifest : nil, transaction.keys)
      memory.follow(transaction.sequence, isOurs ? .live(index, after) : .unknown)
      guard !observers.isEmpty else { return }
      notify(transaction.changes, memory.headerVersion)
    }
    return true
  }

  /// Copies the log into the file now and then.
  private func tidyUp(_ opened: OpenedVault) {
    guard case .index(let index) = opened.watch, index.state.frames >= Self.checkpointThreshold
    else { return }
    // What can't be copied now, for a reader or a full disk, is copied another time.
    do throws(StorageError) { try opened.main.checkpoint() } catch {}
  }

  /// Empties the log, which has pages as they were before; to be called by the queue's leader.
  func scrub() throws(StorageError) {
    guard let connection = gate.withLock({ $0?.main }) else { return }
    connection.wait(until: .now + Self.scrubPatience)
    do throws(StorageError) {
      try connection.checkpointAndTruncate()
    } catch {
      // The change is durable. What it replaced stays in the log until the next commit.
      guard [.busy, .full, .io].contains(error.code) else { throw error }
      isScrubNeeded.store(true, ordering: .relaxed)
      return
    }
    isScrubNeeded.store(false, ordering: .relaxed)
  }

  // MARK: - The header

  /// Lets `body` change the header, alone among all processes and threads.
  ///
  /// - Returns: the version of the header as `body` left it.
  func updateHeader(
    waiting deadline: Duration,
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    try alone(waiting: deadline) { (end) throws(StorageError) in
      try withTransaction(until: end, scrubbing: true) {
        (transaction: inout VaultTransaction) throws(StorageError) in
        try transaction.updateHeader(body)
      }
      return memory.withLock { $0.headerVersion }
    }
  }

  /// Runs `body` while no other thread of this process writes.
  func alone<Result>(
    waiting deadline: Duration, _ body: (ContinuousClock.Instant) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let ticket = WriteTicket(isAlone: true, until: .now + deadline)
    guard queue.enter(ticket) else {
      throw StorageError(.io, "the write was dropped; this is a bug", path: file.path)
    }
    defer { queue.leave() }
    return try body(ticket.end)
  }
}
