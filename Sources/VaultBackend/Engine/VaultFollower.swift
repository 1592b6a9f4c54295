internal import CryptoCore
internal import StorageCore

/// Follows the file: brings memory up to date with commits of other processes, and tells observers
/// about the changes.
final class VaultFollower: Sendable {
  private typealias Change = (name: NameHash, kept: KeptRecord)

  private let vault: VaultContext
  private let gate: VaultGate
  private let log: VaultLog

  init(_ vault: VaultContext, _ gate: VaultGate, _ log: VaultLog) {
    self.vault = vault
    self.gate = gate
    self.log = log
  }

  /// Brings memory up to date, and tells the observers about changes.
  ///
  /// - Returns: nil when there is no file.
  @discardableResult
  func follow(waiting deadline: Duration) throws(StorageError) -> OpenedVault? {
    try gate.requireSameProcess()
    let end = ContinuousClock.now + deadline
    return try gate.withLock { (opened) throws(StorageError) in
      do throws(StorageError) {
        let current = try follow(&opened, until: end, waiting: deadline)
        if vault.observers.mustTellOfRecovery() {
          vault.memory.withLock { memory in
            vault.observers.notifyAll()
            vault.observers.notify(
              memory.records.all.map { RecordChange(name: $0.key.name, record: $0.entry.record) },
              memory.headerVersion)
          }
        }
        return current
      } catch {
        if vault.observers.mustTell(of: error) {
          vault.memory.withLock { _ in vault.observers.notifyAll() }
        }
        throw error
      }
    }
  }

  private func follow(
    _ opened: inout OpenedVault?, until end: ContinuousClock.Instant, waiting deadline: Duration
  ) throws(StorageError) -> OpenedVault? {
    // This comes first: a state that is read later can then be older only if the file went back.
    let past = vault.seen.all
    if opened != nil, gate.isReplaced(askingAlways: true) { gate.leave(&opened) }
    guard let current = try gate.open(&opened, until: end) else {
      gate.forget()
      return nil
    }
    if case .stamp(let stamp) = current.watch, try vault.file.stamp() != stamp {
      // An immutable connection may have read pages of the old file.
      try gate.reopen(&opened, stamp)
      guard let again = try gate.open(&opened, until: end) else { return nil }
      try catchUp(again, past, waiting: deadline)
      return again
    }
    try catchUp(current, past, waiting: deadline)
    return current
  }

  /// Lends a connection that sees the present vault; returns nil when there is no file.
  ///
  /// All reads come from the file, even of pages that were read before.
  func reading<Result>(
    waiting deadline: Duration, _ body: (Connection) throws(StorageError) -> Result
  ) throws(StorageError) -> Result? {
    try gate.requireSameProcess()
    guard let opened = try follow(waiting: deadline) else { return nil }
    return try opened.withReader(waiting: deadline) { (reader) throws(StorageError) in
      reader.forgetPages()
      return try reader.reading { () throws(StorageError) in try body(reader) }
    }
  }

  // MARK: - Catching up

  private func catchUp(
    _ opened: OpenedVault, _ past: SeenCommits.Past, waiting deadline: Duration
  ) throws(StorageError) {
    // Asked for before reading: later reads may then see newer data, but never older.
    let (currency, stamp): (VaultMemory.Currency, VaultFile.Stamp?) =
      switch opened.watch {
      case .index(let index): (.live(index, index.state), nil)
      case .stamp(let stamp): (.stamped(stamp), stamp)
      }
    if vault.memory.withLock({ $0.isCurrent(stamp) }) { return }
    try opened.withReader(waiting: deadline) { (reader) throws(StorageError) in
      try reader.reading { () throws(StorageError) in
        try catchUp(reader, currency, besides: past)
      }
    }
  }

  /// Reads the changes since memory was last brought up to date; in a transaction, under the gate.
  ///
  /// - Parameters:
  ///   - connection: sees the state to follow.
  ///   - currency: the state that memory will be compared with from now on.
  ///   - past: the commits that were seen before that state was read.
  ///   - isOlderAccepted: whether the state may be older than `past`; it is then read again at the
  ///     next use.
  /// - Throws: `damaged` for an older state that is not accepted.
  func catchUp(
    _ connection: Connection, _ currency: VaultMemory.Currency,
    besides past: SeenCommits.Past, acceptingOlder isOlderAccepted: Bool = false
  ) throws(StorageError) {
    let stamps = try VaultRows.stamps(connection)
    let header = try VaultRows.header(connection)
    // Nothing in memory holds for another store.
    let found = header.flatMap { SeenCommits.Store(header: $0) }
    if vault.memory.withLock({ $0.isSuspect && $0.store != found }) { gate.forget() }
    let (known, hasFollowed, isSuspect) = vault.memory.withLock {
      ($0.generation, $0.hasFollowed, $0.isSuspect)
    }
    if try mayHaveResidue(stamps, since: known) { log.noteOthersResidue() }
    if header == nil, try !VaultRows.manifest(connection).isEmpty {
      throw StorageError(
        .damaged,
        "the header with the key slots is gone, but the manifest is still there; restore the vault "
          + "from a backup. No new key was made", path: connection.path)
    }
    let (store, numbers) = try lastCommit(stamps, header, connection)
    let way = store.flatMap { past[$0]?.isAhead(of: numbers) }
    if let way, !isOlderAccepted { throw wentBack(way.from, way.to) }
    let isOlder = way != nil
    // If memory is behind the oldest remembered removal, or the file is an older one, everything
    // may differ.
    let isFollowable =
      !isSuspect && known >= stamps.horizon && known <= stamps.generation
    let isObserved = !vault.observers.isEmpty
    var changes: [Change] = []
    if known == 0 {
      // If memory was empty, report every record, except at the first look.
      let isNews = isObserved && hasFollowed
      changes = isNews ? try VaultRows.changes(since: 0, withRecords: true, connection) : []
    } else if isFollowable {
      changes = try VaultRows.changes(since: known, withRecords: isObserved, connection)
    } else if isObserved {
      changes = try differences(connection)
      // The new file may have other name hashes.
      if isSuspect { changes += try additions(connection) }
    }
    if let store, !isOlder { vault.seen.see(numbers, of: store) }
    vault.memory.withLock { memory in
      // Observers hear of differences from memory, so memory keeps what they were told.
      if known == 0 || !isFollowable && !isObserved { memory.dropAll() }
      var news: [RecordChange] = []
      for change in changes {
        guard isObserved else {
          memory.drop(change.name)
          continue
        }
        // The removal of an absent record leaves a tombstone, but is not reported.
        let isNews = change.kept.record != nil || memory.record(for: change.name) != .some(nil)
        memory.keep(change.kept, for: change.name)
        if isNews { news.append(RecordChange(name: change.name, record: change.kept.record)) }
      }
      memory.adopt(header: header)
      memory.follow(
        stamps.generation, horizon: stamps.horizon, isOlder ? .unknown : currency)
      guard !vault.observers.isEmpty else { return }
      vault.observers.notify(news, memory.headerVersion)
    }
  }

  /// Whether the log may still have content that another process's change of the header was to
  /// remove: a process that changes keys does not wait for slow readers, and may have ended since.
  ///
  /// Comparing the header would not tell, since it may have changed back.
  private func mayHaveResidue(
    _ stamps: VaultRows.Stamps, since known: Int64
  ) throws(StorageError) -> Bool {
    guard !vault.isReadOnly, stamps.header > known || stamps.generation < known else {
      return false
    }
    return try vault.file.hasLog()
  }

  /// The store of the file's last commit, and its numbers; the manifest's number only if its keys
  /// are open.
  private func lastCommit(
    _ stamps: VaultRows.Stamps, _ header: [UInt8]?, _ connection: Connection
  ) throws(StorageError) -> (store: SeenCommits.Store?, numbers: SeenCommits.Numbers) {
    var numbers = SeenCommits.Numbers(rows: stamps.generation)
    guard let header, let store = SeenCommits.Store(header: header) else { return (nil, numbers) }
    let (known, keys) = vault.memory.withLock { ($0.header, $0.currentManifestKeys) }
    if let keys, known == header {
      let manifest = try Manifest.stored(in: connection, keys)
      numbers.manifest = manifest.map { Int64(clamping: $0.generation) }
    }
    return (store, numbers)
  }

  /// The error for a file that is older than the state that this process has seen.
  private func wentBack(_ latest: Int64, _ number: Int64) -> StorageError {
    StorageError(
      .damaged,
      "the vault was replaced by an older version (commit \(number) instead of \(latest)) while this "
        + "program was running. If you did this on purpose, restart the programs that use the vault, "
        + "and use restore for backups next time. Otherwise verify the vault, and restore or repair it",
      path: vault.file.path)
  }

  /// The records and tombstones in memory that differ from the file's.
  private func differences(_ connection: Connection) throws(StorageError) -> [Change] {
    var changes: [Change] = []
    for (key, old) in vault.memory.withLock({ $0.records.all }) {
      let new = try VaultRows.kept(key.name, connection)
      if new.record != old.record || new.removal != old.removal { changes.append((key.name, new)) }
    }
    // Records that were too long to keep can't be compared, so they are all reported.
    for key in vault.memory.withLock({ $0.unkept }) {
      changes.append((key.name, try VaultRows.kept(key.name, connection)))
    }
    return changes
  }

  /// The records that memory does not know.
  private func additions(_ connection: Connection) throws(StorageError) -> [Change] {
    try VaultRows.changes(since: 0, withRecords: true, connection).filter { change in
      change.kept.record != nil
        && vault.memory.withLock { $0.records[NameKey(change.name)] == nil }
    }
  }
}
