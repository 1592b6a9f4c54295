internal import CryptoCore
internal import StorageCore
internal import Synchronization

// Follows the file: brings memory up to date, and tells observers about changes.
extension VaultEngine {
  /// Brings memory up to date, and tells the observers about changes.
  ///
  /// - Returns: nil when there is no file.
  @discardableResult
  func follow(waiting deadline: Duration) throws(StorageError) -> OpenedVault? {
    try requireSameProcess()
    let end = ContinuousClock.now + deadline
    return try gate.withLock { (opened) throws(StorageError) in
      do throws(StorageError) {
        let current = try follow(&opened, until: end, waiting: deadline)
        if listeners.mustTellOfRecovery() {
          memory.withLock { memory in
            listeners.notifyAll()
            listeners.notify(
              memory.records.all.map { RecordChange(name: $0.key.name, record: $0.entry.record) },
              memory.headerVersion)
          }
        }
        return current
      } catch {
        if listeners.mustTell(of: error) { memory.withLock { _ in listeners.notifyAll() } }
        throw error
      }
    }
  }

  private func follow(
    _ opened: inout OpenedVault?, until end: ContinuousClock.Instant, waiting deadline: Duration
  ) throws(StorageError) -> OpenedVault? {
    // This comes first: a state that is read later can then be older only if the file went back.
    let past = seen.all
    if opened != nil, isReplaced(askingAlways: true) { leave(&opened) }
    guard let current = try open(&opened, until: end) else {
      forget()
      return nil
    }
    if case .stamp(let stamp) = current.watch, try file.stamp() != stamp {
      // An immutable connection may have read pages of the old file.
      try reopen(&opened, stamp)
      guard let again = try open(&opened, until: end) else { return nil }
      try catchUp(again, past, waiting: deadline)
      return again
    }
    try catchUp(current, past, waiting: deadline)
    return current
  }

  /// Whether the path no longer leads to the open file, which nothing else tells a process that
  /// only reads.
  ///
  /// Takes one lstat(2) in each tick of the clock, or in each call with `askingAlways`. If lstat(2)
  /// fails, for example after the program has dropped its rights, the open file counts as in place.
  func isReplaced(askingAlways: Bool = false) -> Bool {
    let now = ClockTick.now
    guard askingAlways || !freshness.wasSeen(at: now),
      let place = memory.read({ $0.place })
    else { return false }
    do throws(StorageError) {
      guard try FileStatus.ofEntry(file.path)?.identity == place else { return true }
    } catch {}
    freshness.noteSeen(at: now)
    return false
  }

  private func catchUp(
    _ opened: OpenedVault, _ past: SeenCommits.Past, waiting deadline: Duration
  ) throws(StorageError) {
    let currency = Self.currency(of: opened)
    if memory.withLock({ $0.isCurrent(Self.stamp(of: opened)) }) { return }
    try opened.withReader(waiting: deadline) { (reader) throws(StorageError) in
      try reader.reading { () throws(StorageError) in
        try catchUp(reader, currency, besides: past)
      }
    }
  }

  /// The state that memory will be compared with from now on.
  ///
  /// Ask for it before reading: later reads may then see newer data, but never older.
  static func currency(of opened: OpenedVault) -> VaultMemory.Currency {
    switch opened.watch {
    case .index(let index): .live(index, index.state)
    case .stamp(let stamp): .stamped(stamp)
    }
  }

  private static func stamp(of opened: OpenedVault) -> VaultFile.Stamp? {
    if case .stamp(let stamp) = opened.watch { return stamp }
    return nil
  }

  /// Whether the log may still have content that another process's change of the header was to
  /// remove: a process that changes keys does not wait for slow readers, and may have ended since.
  ///
  /// Comparing the header would not tell, since it may have changed back.
  private func mayHaveResidue(
    _ stamps: VaultRows.Stamps, since known: Int64
  ) throws(StorageError) -> Bool {
    guard access == .readWrite, stamps.header > known || stamps.generation < known else {
      return false
    }
    return try file.hasLog()
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
    if memory.withLock({ $0.isSuspect && $0.store != found }) { forget() }
    let (known, hasFollowed, isSuspect) = memory.withLock {
      ($0.generation, $0.hasFollowed, $0.isSuspect)
    }
    if try mayHaveResidue(stamps, since: known) {
      residue.noteOthers()
    }
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
    let isListening = !observers.isEmpty
    var changes: [(name: NameHash, kept: KeptRecord)] = []
    if known == 0 {
      // If memory was empty, report every record, except at the first look.
      let isNews = isListening && hasFollowed
      changes = isNews ? try VaultRows.changes(since: 0, withRecords: true, connection) : []
    } else if isFollowable {
      changes = try VaultRows.changes(since: known, withRecords: isListening, connection)
    } else if isListening {
      changes = try differences(connection)
      // The new file may have other name hashes.
      if isSuspect { changes += try additions(connection) }
    }
    if let store, !isOlder { seen.see(numbers, of: store) }
    memory.withLock { memory in
      // Listeners hear of differences from memory, so memory keeps what they were told.
      if known == 0 || !isFollowable && !isListening { memory.dropAll() }
      var news: [RecordChange] = []
      for change in changes {
        guard isListening else {
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
      guard !observers.isEmpty else { return }
      listeners.notify(news, memory.headerVersion)
    }
  }
}
