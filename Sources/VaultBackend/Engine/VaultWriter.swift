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

  /// A single batch may be too large, or meet a damaged row.
  private static let errorsOfOneBatch: [StorageError.Code] = [.full, .invalid, .damaged]

  let vault: VaultContext
  let gate: VaultGate
  private let follower: VaultFollower
  let log: VaultLog
  private let queue = WriteQueue()
  /// The manifest that this process wrote last; changed under the gate.
  private let written = Lock<VaultTransaction.WrittenManifest?>(nil)
  private let mustExist = Atomic<Bool>(false)

  init(_ vault: VaultContext, _ gate: VaultGate, _ follower: VaultFollower, _ log: VaultLog) {
    self.vault = vault
    self.gate = gate
    self.follower = follower
    self.log = log
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
    var writes = writes
    if let keys = vault.memory.read({ $0.currentManifestKeys }) {
      // Hashed here and not by the leader, who would hash for all that share the commit.
      for index in writes.indices { try writes[index].hash(under: keys) }
    }
    return try perform(writes, headerVersion: headerVersion, waiting: deadline)
  }

  /// Makes one write, durably, if the header has the given version.
  func commit(
    _ write: consuming RecordWrite, headerVersion: UInt64, waiting deadline: Duration
  ) throws(StorageError) -> CommitOutcome {
    if let keys = vault.memory.read({ $0.currentManifestKeys }) { try write.hash(under: keys) }
    return try perform([write], headerVersion: headerVersion, waiting: deadline)
  }

  private func perform(
    _ writes: [RecordWrite], headerVersion: UInt64, waiting deadline: Duration
  ) throws(StorageError) -> CommitOutcome {
    try gate.requireSameProcess()
    let ticket = WriteTicket(writes, headerVersion: headerVersion, until: .now + deadline)
    return try queue.perform(
      ticket, aloneAfter: Self.errorsOfOneBatch,
      // Other processes try for SQLite's lock only now and then: without a pause they would not
      // find it free.
      afterwards: { if vault.notice.isAwaited { usleep(Self.headStart) } },
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
    return try vault.notice.lendingSpace { () throws(StorageError) in
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
      var turns = WriteQueue.turnLimit
      while outcomes.count < batches.count {
        outcomes.append(try Self.apply(batches[outcomes.count], &transaction))
        if isShared, outcomes.count == batches.count {
          let followers = queue.gatherFollowers(besides: batches.count, turns: &turns)
          if !followers.isEmpty { batches += followers }
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
    _ ticket: WriteTicket, _ transaction: inout VaultTransaction
  ) throws(StorageError) -> CommitOutcome {
    if let expected = ticket.headerVersion, expected != transaction.headerVersion {
      return .headerChanged
    }
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
    guard !vault.isReadOnly else {
      guard try vault.file.check(mending: false) else {
        throw StorageError(
          .unavailable,
          "the vault does not exist, and a read-only open does not create one; check the path, or "
            + "create the vault with write access", path: vault.file.path)
      }
      throw Self.openedReadOnly(vault.file.path)
    }
    let opened = try openForWriting(until: end)
    let connection = opened.main
    try beginWriting(connection, until: end)
    defer { connection.rollBack() }
    let isToBeScrubbed = try gate.withLock { (current) throws(StorageError) in
      // Memory must not keep using the index of a closed file.
      guard current === opened else {
        throw StorageError(
          .unavailable, "the vault was closed because the program is ending", path: vault.file.path)
      }
      return try write(opened, acceptingOlder: isOlderAccepted, body)
    }
    guard let isToBeScrubbed else { return }
    vault.notice.post()
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
    try vault.notice.whileWaiting { () throws(StorageError) in
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
      guard !makesNothing else { throw .missing(vault.file.path) }
      try vault.file.create()
      guard let opened = try gate.open(&opened, until: end) else {
        throw StorageError(
          .unavailable,
          "the vault was removed as soon as it was made; find out which program removes it, then try "
            + "again", path: vault.file.path)
      }
      return try withRoom(opened)
    }
  }

  /// Refuses a file that was opened read-only because it can't be written to, or because the disk
  /// has no room for files beside it.
  private func withRoom(_ opened: OpenedVault) throws(StorageError) -> OpenedVault {
    guard opened.log != nil else {
      guard vault.file.isWritable, vault.file.isFolderWritable else {
        throw OpenedVault.readOnly(vault.file)
      }
      throw opened.lackOfRoom
        ?? StorageError(.full, "the disk is full; free some space", path: vault.file.path)
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
      throw Self.openedReadOnly(vault.file.path)
    }
    // Nobody else can write now, so the state stays the same until the commit.
    let before = index.state
    var base = vault.memory.read { $0.writeBase }
    if !base.isCurrent {
      try follower.catchUp(
        opened.main, .live(index, before), besides: vault.seen.all, acceptingOlder: isOlderAccepted)
      base = vault.memory.read { $0.writeBase }
    }
    var transaction = try VaultTransaction(
      opened.main, vault.memory, vault.seen, over: base, base.isManifestOurs ? takeManifest() : nil)
    try body(&transaction)
    guard !transaction.isEmpty else {
      keep(transaction.manifest, transaction.keys)
      return nil
    }
    try transaction.commit()
    let after = index.state
    // If another process has written since, memory must be brought up to date again.
    let isOurs = after.changes == before.changes &+ 1
    vault.memory.withLock { memory in
      if let header = transaction.header { memory.adopt(header: header) }
      // Everything is then read anew at the next access, here and in every other process.
      if transaction.isWholesale { return memory.doubt() }
      for change in transaction.changes { memory.keep(change.new, for: change.name) }
      memory.follow(
        transaction.sequence, horizon: transaction.horizon ?? memory.horizon,
        isOurs ? .live(index, after) : .unknown)
      if let store = memory.store {
        let manifest = transaction.manifest == nil ? nil : transaction.sequence
        vault.seen.see(.init(rows: transaction.sequence, manifest: manifest), of: store)
      }
      if isOurs { memory.noteManifest() }
      guard !vault.observers.isEmpty else { return }
      vault.observers.notify(
        transaction.changes.filter(\.isNews).map {
          RecordChange(name: $0.name, record: $0.new.record)
        }, memory.headerVersion)
    }
    keep(transaction.manifest, transaction.keys)
    return transaction.isScrubNeeded
  }

  /// The manifest is taken out, so that the transaction changes it in place.
  private func takeManifest() -> VaultTransaction.WrittenManifest? {
    written.withLock { written in
      defer { written = nil }
      return written
    }
  }

  private func keep(_ manifest: Manifest?, _ keys: ManifestKeys?) {
    guard let manifest, let keys else { return }
    written.withLock { $0 = .init(manifest: manifest, keys: keys) }
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
      return vault.memory.withLock { $0.headerVersion }
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
