internal import CryptoCore
internal import StorageCore
internal import Synchronization

// Following the file: memory is brought up to date, and observers are told what is new.
extension VaultEngine {
  /// Brings memory up to date, and tells the observers what is new.
  ///
  /// - Returns: nil when there is no file.
  @discardableResult
  func follow(waiting deadline: Duration) throws(StorageError) -> OpenedVault? {
    try requireSameProcess()
    let end = ContinuousClock.now + deadline
    return try gate.withLock { (opened) throws(StorageError) in
      do throws(StorageError) {
        let current = try follow(&opened, until: end, waiting: deadline)
        tellOfRecovery()
        return current
      } catch {
        tellOfFailure(error)
        throw error
      }
    }
  }

  private func follow(
    _ opened: inout OpenedVault?, until end: ContinuousClock.Instant, waiting deadline: Duration
  ) throws(StorageError) -> OpenedVault? {
    // First, so that no state that is looked at now can be older without having gone back.
    let past = seen.all
    if opened != nil, isReplaced(askingAlways: true) { leave(&opened) }
    guard let current = try open(&opened, until: end) else {
      forget()
      return nil
    }
    if case .stamp(let stamp) = current.watch, try file.stamp() != stamp {
      // What an immutable connection has read may be of the old file.
      try reopen(&opened, stamp)
      guard let again = try open(&opened, until: end) else { return nil }
      try catchUp(again, past, waiting: deadline)
      return again
    }
    try catchUp(current, past, waiting: deadline)
    return current
  }

  /// Whether another file is in the place of the one that is open, or none, as nobody tells who only reads.
  ///
  /// One lstat(2) in a tick of the clock, or `askingAlways`. Where the system does not say, as after a
  /// program has given up its rights, the open file counts.
  func isReplaced(askingAlways: Bool = false) -> Bool {
    let now = ClockTick.now
    guard askingAlways || now == 0 || looked.load(ordering: .relaxed) != now,
      let place = memory.read({ $0.place })
    else { return false }
    do throws(StorageError) {
      guard try FileStatus.ofEntry(file.path)?.identity == place else { return true }
    } catch {}
    if now != 0 { looked.store(now, ordering: .relaxed) }
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

  /// What memory is to be compared with from now on.
  ///
  /// To be asked for before anything is read: what is read later may be newer, never older.
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

  /// Whether others may have left in the log what a change of the header was to remove: a process that
  /// changes keys does not wait for a reader who takes his time, and may have ended since.
  ///
  /// What they changed can't be told from the header, which may be again as it was.
  private func mayHaveResidue(
    _ stamps: VaultRows.Stamps, since known: Int64
  ) throws(StorageError) -> Bool {
    guard access == .readWrite, stamps.header > known || stamps.generation < known else {
      return false
    }
    return try file.hasLog()
  }

  /// Reads what has changed since memory was brought up to date last; in a transaction, under the
  /// gate.
  ///
  /// - Parameters:
  ///   - connection: sees the state to be followed.
  ///   - currency: what memory is to be compared with from now on.
  ///   - past: what was seen before that state was looked at.
  ///   - isOlderAccepted: whether a state may be older than that; it is looked at again at the next use.
  /// - Throws: `damaged` for one that is and may not be.
  func catchUp(
    _ connection: Connection, _ currency: VaultMemory.Currency,
    besides past: SeenCommits.Past, acceptingOlder isOlderAccepted: Bool = false
  ) throws(StorageError) {
    let stamps = try VaultRows.stamps(connection)
    let header = try VaultRows.header(connection)
    // Of another store nothing is as it was.
    let found = header.flatMap { SeenCommits.Store(header: $0) }
    if memory.withLock({ $0.isSuspect && $0.store != found }) { forget() }
    let (known, hasFollowed, isSuspect) = memory.withLock {
      ($0.generation, $0.hasFollowed, $0.isSuspect)
    }
    if try mayHaveResidue(stamps, since: known) {
      _ = residue.compareExchange(expected: .none, desired: .ofOthers, ordering: .relaxed)
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
    // Further back than removals are remembered, or the file is an older one: then all may differ.
    let isFollowable =
      !isSuspect && known >= stamps.horizon && known <= stamps.generation
    let isListening = !observers.isEmpty
    var changes: [(name: NameHash, kept: KeptRecord)] = []
    if known == 0 {
      // Whoever knew of nothing is told of all there is; what is there at the first look is no news.
      let isNews = isListening && hasFollowed
      changes = isNews ? try VaultRows.changes(since: 0, withRecords: true, connection) : []
    } else if isFollowable {
      changes = try VaultRows.changes(since: known, withRecords: isListening, connection)
    } else if isListening {
      changes = try differences(connection)
      // Its names may be hashed anew.
      if isSuspect { changes += try additions(connection) }
    }
    if let store, !isOlder { seen.see(numbers, of: store) }
    memory.withLock { memory in
      // Those that listen hear of what memory has, so it keeps what they were told.
      if known == 0 || !isFollowable && !isListening { memory.dropAll() }
      var news: [RecordChange] = []
      for change in changes {
        guard isListening else {
          memory.drop(change.name)
          continue
        }
        // The removal of what was not there is no news, and leaves a tombstone nevertheless.
        let isNews = change.kept.record != nil || memory.record(for: change.name) != .some(nil)
        memory.keep(change.kept, for: change.name)
        if isNews { news.append(RecordChange(name: change.name, record: change.kept.record)) }
      }
      memory.adopt(header: header)
      memory.follow(
        stamps.generation, horizon: stamps.horizon, isOlder ? .unknown : currency)
      guard !observers.isEmpty else { return }
      notify(news, memory.headerVersion)
    }
  }
}
