internal import CryptoCore
internal import Glibc
internal import StorageCore
internal import Synchronization

extension WriteTicket {
  /// Whether the batch only removes records.
  fileprivate var isRemoval: Bool {
    headerVersion != nil && !writes.isEmpty && writes.allSatisfy { $0.isCheck || $0.record == nil }
  }
}

/// Writes to a vault: one thread of the process at a time, for itself and for those that wait, and
/// one process at a time.
final class VaultWriter: Sendable {
  /// How long to wait for another writer before saying so in the notice file.
  private static let quietPatience: Duration = .milliseconds(10)
  /// The pause in microseconds in which others can take the lock: a little more than the longest
  /// pause between two of their attempts.
  private static let headStart: useconds_t = 700

  let file: VaultFile
  private let access: VaultAccess
  let memory: SharedLock<VaultMemory>
  private let seen: SeenCommits
  let observers: VaultObservers
  let gate: VaultGate
  private let follower: VaultFollower
  let log: VaultLog
  let notice: VaultNotice
  private let queue = WriteQueue()
  private let mustExist = Atomic<Bool>(false)

  init(
    _ file: VaultFile, _ access: VaultAccess, _ memory: SharedLock<VaultMemory>,
    _ seen: SeenCommits, _ observers: VaultObservers, _ gate: VaultGate,
    _ follower: VaultFollower, _ log: VaultLog, _ notice: VaultNotice
  ) {
    self.file = file
    self.access = access
    self.memory = memory
    self.seen = seen
    self.observers = observers
    self.gate = gate
    self.follower = follower
    self.log = log
    self.notice = notice
  }

  /// From now on no storage of this process creates the vault.
  func makeNothing() { mustExist.store(true, ordering: .releasing) }

  /// Whether a missing vault is an error and must not be created.
  var makesNothing: Bool { mustExist.load(ordering: .acquiring) }

  // MARK: - Batches

  /// Makes all of `writes` or none, durably, if the header has the given version.
  func commit(
    _ writes: [RecordWrite], headerVersion: UInt64, waiting deadline: Duration
  ) throws(StorageError) -> CommitOutcome {
    try gate.requireSameProcess()
    var writes = writes
    if let keys = memory.withLock({ $0.currentManifestKeys }) {
      // Hashed here and not by the leader, who would hash for all that share the commit.
      for index in writes.indices { try writes[index].hash(under: keys) }
    }
    let ticket = WriteTicket(writes, headerVersion: headerVersion, until: .now + deadline)
    return try queue.perform(
      // A single batch may be too large, or meet a damaged row.
      ticket, aloneAfter: [.full, .invalid, .damaged],
      // Other processes try for SQLite's lock only now and then: without a pause they would not
      // find it free.
      afterwards: { if notice.isAwaited { usleep(Self.headStart) } },
      write)
  }

  /// Writes batches in one transaction.
  ///
  /// - Parameters:
  ///   - group: the batches; those that arrive during the writing are added while `isShared`, and
  ///     share the sync.
  ///   - isShared: whether others may share the transaction.
  /// - Returns: the outcome of each batch.
  /// - Throws: `StorageError`: why none of the batches was written.
  private func write(
    _ group: inout [WriteTicket], isShared: Bool
  ) throws(StorageError) -> [CommitOutcome] {
    do throws(StorageError) {
      return try writeOnce(&group, isShared)
    } catch {
      guard error.code == .full, group.allSatisfy(\.isRemoval) else { throw error }
    }
    // Otherwise nobody could make room on a full disk by removing values.
    return try notice.lendingSpace { () throws(StorageError) in
      log.copy()
      do throws(StorageError) {
        return try writeOnce(&group, false)
      } catch {
        throw error.code == .full ? Self.noRoomForRemoval(error) : error
      }
    }
  }

  private func writeOnce(
    _ group: inout [WriteTicket], _ isShared: Bool
  ) throws(StorageError) -> [CommitOutcome] {
    var outcomes: [CommitOutcome] = []
    var batches = group
    defer { group = batches }
    try withTransaction(until: group[0].end) {
      (transaction: inout VaultTransaction) throws(StorageError) in
      let version = memory.withLock { $0.headerVersion }
      var turns = WriteQueue.turnLimit
      while outcomes.count < batches.count {
        outcomes.append(try Self.apply(batches[outcomes.count], version, &transaction))
        if isShared, outcomes.count == batches.count {
          batches += queue.gatherFollowers(besides: batches.count, turns: &turns)
        }
      }
    }
    return outcomes
  }

  private static func noRoomForRemoval(_ error: StorageError) -> StorageError {
    StorageError(
      .full,
      error.message
        + ". A removal overwrites the value, and needs about as much space as the value has: "
        + "remove smaller values first", path: error.path, number: error.number)
  }

  /// Makes a batch's writes if its conditions hold.
  ///
  /// All conditions are about the state before the batch.
  private static func apply(
    _ ticket: WriteTicket, _ version: UInt64, _ transaction: inout VaultTransaction
  ) throws(StorageError) -> CommitOutcome {
    if let expected = ticket.headerVersion, expected != version { return .headerChanged }
    guard try transaction.canKeepManifest() else {
      // A storage opens a header's keys before it writes under that header, unless it can't.
      throw StorageError(
        .busy, "the vault's keys were changed meanwhile; try again",
        path: transaction.connection.path)
    }
    for write in ticket.writes {
      if case .always = write.condition { continue }
      guard write.isAllowed(over: try transaction.record(write.name)) else {
        return .conditionFailed
      }
    }
    transaction.reserve(ticket.writes.count)
    for write in ticket.writes where !write.isCheck {
      try transaction.set(write)
    }
    // Written now and not at the end: meanwhile other batches arrive and share the commit.
    try transaction.writeRows()
    return .committed
  }

  // MARK: - Transactions

  /// Runs `body` as the only writer among all processes, and makes its changes durable.
  ///
  /// The queue's leader calls it.
  ///
  /// - Parameters:
  ///   - end: how long to wait for other processes.
  ///   - isOlderAccepted: whether the file may be older than the state that this process has seen.
  ///   - body: makes the changes.
  /// - Throws: `StorageError`, or what `body` throws; nothing is then changed, except with
  ///   `outcomeUnknown`.
  func withTransaction(
    until end: ContinuousClock.Instant, acceptingOlder isOlderAccepted: Bool = false,
    _ body: (inout VaultTransaction) throws(StorageError) -> Void
  ) throws(StorageError) {
    guard access == .readWrite else {
      guard try file.check(mending: false) else {
        throw StorageError(
          .unavailable,
          "the vault does not exist, and a read-only open does not create one; check the path, or "
            + "create the vault with write access", path: file.path)
      }
      throw Self.openedReadOnly(file.path)
    }
    let opened = try openForWriting(until: end)
    let connection = opened.main
    try beginWriting(connection, until: end)
    defer { connection.rollBack() }
    let isToBeScrubbed = try gate.withLock { (current) throws(StorageError) in
      // Memory must not keep using the index of a closed file.
      guard current === opened else {
        throw StorageError(
          .unavailable, "the vault was closed because the program is ending", path: file.path)
      }
      return try write(opened, acceptingOlder: isOlderAccepted, body)
    }
    guard let isToBeScrubbed else { return }
    notice.post()
    log.tend(opened, isToBeScrubbed: isToBeScrubbed)
  }

  private static func openedReadOnly(_ path: String) -> StorageError {
    StorageError(
      .readOnly, "the vault was opened read-only; open it with write access to change it",
      path: path)
  }

  /// Waits to be the only writer among all processes.
  private func beginWriting(
    _ connection: Connection, until end: ContinuousClock.Instant
  ) throws(StorageError) {
    connection.wait(until: end, atMost: Self.quietPatience)
    do throws(StorageError) {
      return try connection.beginWriting()
    } catch {
      guard error.code == .busy, ContinuousClock.now < end else { throw error }
    }
    try notice.whileWaiting { () throws(StorageError) in
      connection.wait(until: end)
      try connection.beginWriting()
    }
  }

  /// The open file, made if necessary, and reopened if it was replaced.
  private func openForWriting(
    until end: ContinuousClock.Instant
  ) throws(StorageError) -> OpenedVault {
    try gate.withLock { (opened) throws(StorageError) in
      if let current = opened {
        if try current.main.hasMoved() {
          gate.leave(&opened)
        } else if case .stamp = current.watch {
          // At the opening the disk was full, or could not be written to.
          gate.pause(&opened)
        }
      }
      if let opened = try gate.open(&opened, until: end) { return try withRoom(opened) }
      guard !makesNothing else { throw .missing(file.path) }
      try file.create()
      guard let opened = try gate.open(&opened, until: end) else {
        throw StorageError(
          .unavailable,
          "the vault was removed as soon as it was made; find out which program removes it, then try "
            + "again", path: file.path)
      }
      return try withRoom(opened)
    }
  }

  /// Refuses a file that was opened read-only because it can't be written to, or because the disk
  /// has no room for files beside it.
  private func withRoom(_ opened: OpenedVault) throws(StorageError) -> OpenedVault {
    guard opened.log != nil else {
      guard file.isWritable, file.isFolderWritable else { throw OpenedVault.readOnly(file) }
      throw opened.lackOfRoom
        ?? StorageError(.full, "the disk is full; free some space", path: file.path)
    }
    return opened
  }

  /// Runs a write transaction, under the gate and SQLite's write lock.
  ///
  /// - Returns: whether the log contains content that must be wiped; nil when nothing was written.
  private func write(
    _ opened: OpenedVault, acceptingOlder isOlderAccepted: Bool,
    _ body: (inout VaultTransaction) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool? {
    guard case .index(let index) = opened.watch else {
      throw Self.openedReadOnly(file.path)
    }
    // Nobody else can write now, so the state stays the same until the commit.
    let before = index.state
    if !memory.withLock({ $0.isCurrent(nil) }) {
      try follower.catchUp(
        opened.main, .live(index, before), besides: seen.all, acceptingOlder: isOlderAccepted)
    }
    var transaction = try VaultTransaction(opened.main, memory, seen)
    try body(&transaction)
    guard !transaction.isEmpty else { return nil }
    try transaction.commit()
    let after = index.state
    // If another process has written since, memory must be brought up to date again.
    let isOurs = after.changes == before.changes &+ 1
    memory.withLock { memory in
      if let header = transaction.header { memory.adopt(header: header) }
      // Everything is then read anew at the next access, here and in every other process.
      if transaction.isWholesale { return memory.doubt() }
      for change in transaction.changes { memory.keep(change.new, for: change.name) }
      memory.follow(
        transaction.sequence, horizon: transaction.horizon ?? memory.horizon,
        isOurs ? .live(index, after) : .unknown)
      if let store = memory.store {
        let manifest = transaction.manifest == nil ? nil : transaction.sequence
        seen.see(.init(rows: transaction.sequence, manifest: manifest), of: store)
      }
      memory.keep(isOurs ? transaction.manifest : nil, transaction.keys)
      guard !observers.isEmpty else { return }
      observers.notify(
        transaction.changes.filter(\.isNews).map {
          RecordChange(name: $0.name, record: $0.new.record)
        }, memory.headerVersion)
    }
    return transaction.isScrubNeeded
  }

  // MARK: - The header

  /// Lets `body` change the header, alone among all processes and threads.
  ///
  /// - Returns: the version of the header that `body` leaves.
  func updateHeader(
    waiting deadline: Duration,
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    try alone(waiting: deadline) { (end) throws(StorageError) in
      try withTransaction(until: end) {
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
    try gate.requireSameProcess()
    return try queue.alone(waiting: deadline, body)
  }
}
