internal import CryptoCore

/// A pass over the records of a store that seals the records of other data keys with the primary
/// one.
struct Reencryption {
  /// How many records share a commit.
  private static let batchCount = 64
  /// How many bytes of records share a commit.
  private static let batchBytes = 1 << 20
  /// How many records the place accounts for at once; their shares are in memory meanwhile.
  private static let accountedAtOnce = 50_000

  /// A record that may have to be sealed again.
  struct Candidate {
    let name: NameHash
    /// The share that the record's bytes must have; nil if any record that opens is accepted.
    let share: RecordShare?
    let size: Int
  }

  private let store: SealedStore
  /// Whether all records that open are sealed again, even if only a retired key opens them.
  private let isReadmitting: Bool
  /// Keys that may have a record which the place does not list.
  private let expected: [StoreKey]
  /// The records at the beginning of a rotation; nil where they are not known.
  private let beginning: RotationBeginning?
  private let progress: ((Int, Int) -> Void)?
  private var batch: [Candidate] = []
  private var batchSize = 0
  /// How many records the pass has reached, and how many there are.
  private var (done, total) = (0, 0)
  /// How many records were sealed again.
  private var count = 0

  init(
    of store: SealedStore, isReadmitting: Bool,
    expecting expected: [StoreKey], since beginning: RotationBeginning?,
    _ progress: ((Int, Int) -> Void)?
  ) {
    self.store = store
    self.isReadmitting = isReadmitting
    self.expected = expected
    self.beginning = beginning
    self.progress = progress
  }

  /// Goes through all records, in small commits.
  ///
  /// - Returns: how many records were sealed again.
  mutating func run() throws(StorageError) -> Int {
    let names = try allNames()
    total = names.count
    if let place = store.manifestPlace, !isReadmitting {
      try runThroughAccounts(of: place)
    } else {
      for name in names {
        let size = try lookup(name)?.record?.count ?? 0
        // A record of an old key that came after the rotation began was written by someone who does
        // not follow the rotation. So it is not sealed again.
        var share: RecordShare?
        var isKnown = true
        if case .snapshot(let shares) = beginning {
          share = shares[name]
          isKnown = share != nil
        }
        try add(isKnown ? Candidate(name: name, share: share, size: size) : nil)
      }
    }
    try flush()
    progress?(total, total)
    return count
  }

  /// The listed names, and the expected names that are not listed.
  private func allNames() throws(StorageError) -> [NameHash] {
    let listed = try store.place.names()
    guard !expected.isEmpty, let open = try store.keys.forReading() else { return listed }
    var known = Set(listed)
    var names = listed
    for key in expected {
      let name = try store.name(key).context(in: open).name
      if known.insert(name).inserted { names.append(name) }
    }
    return names
  }

  private mutating func runThroughAccounts(
    of place: any ManifestPlace
  ) throws(StorageError) {
    let all = place.accountCount
    let step = min(all, max(1, all * Self.accountedAtOnce / max(1, total)))
    for start in stride(from: 0, to: all, by: step) {
      for account in try accounts(start..<min(all, start + step), place) {
        for entry in account.entries {
          let candidate = Candidate(name: entry.name, share: entry.share, size: entry.size)
          try add(account.isBalanced ? candidate : nil)
        }
      }
    }
  }

  private func accounts(
    _ indices: Range<Int>, _ place: any ManifestPlace
  ) throws(StorageError) -> [RecordAccount] {
    for _ in Attempts() {
      guard let open = try store.keys.refresh() else { return [] }
      let accounts = try place.accounts(indices, headerVersion: open.headerVersion) {
        (name, record) throws(StorageError) in
        try store.clearName(of: record, under: name, open) != nil
      }
      if let accounts { return accounts }
    }
    throw Self.changing
  }

  /// Adds a record to the next batch; nil only counts a record that stays unchanged.
  private mutating func add(_ candidate: Candidate?) throws(StorageError) {
    done += 1
    guard let candidate else { return }
    // A place that limits the bytes of a commit takes a record that is alone.
    if !batch.isEmpty, batchSize + candidate.size > Self.batchBytes { try flush() }
    batch.append(candidate)
    batchSize += candidate.size
    let limit = min(Self.batchCount, store.place.commitLimit)
    guard batch.count >= limit || batchSize >= Self.batchBytes else { return }
    try flush()
    progress?(min(done, total), total)
  }

  private mutating func flush() throws(StorageError) {
    count += try seal(batch)
    (batch, batchSize) = ([], 0)
  }

  // MARK: - Sealing

  /// Seals records with the primary data key; skips those that are under it already, and those that
  /// don't open.
  ///
  /// - Returns: how many records were sealed.
  private func seal(_ batch: [Candidate]) throws(StorageError) -> Int {
    for _ in Attempts() {
      guard let open = try store.keys.forReading() else { return 0 }
      guard let writes = try writes(batch, open) else { continue }
      guard !writes.isEmpty else { return 0 }
      switch try store.place.commit(writes, headerVersion: open.headerVersion) {
      case .committed: return writes.count { $0.record != nil }
      case .conditionFailed where batch.count > 1:
        // Another writer changed one of the records, and seals it with the primary key.
        var count = 0
        for candidate in batch { count += try seal([candidate]) }
        return count
      case .conditionFailed: continue
      case .headerChanged: try store.keys.refresh()
      }
    }
    throw StorageError(.busy, "other writers kept changing a record; try again")
  }

  /// The writes that seal records again, or nil when the keys have to be read again first.
  private func writes(
    _ batch: [Candidate], _ open: OpenKeys
  ) throws(StorageError) -> [RecordWrite]? {
    var writes: [RecordWrite] = []
    for candidate in batch {
      guard let (found, version) = try lookup(candidate.name) else { continue }
      guard version == open.headerVersion else {
        try store.keys.refresh()
        return nil
      }
      guard let record = found,
        let header = SealedStore.header(of: record), header.keyID != open.primary.id,
        try isMeant(record, candidate, open)
      else { continue }
      let context = RecordContext(
        store: open.store, name: candidate.name, authenticationTag: store.tag)
      guard var payload = openIfPossible(record, context, open) else { continue }
      defer { Wipe.bytes(&payload) }
      guard let name = try presentName(of: payload, under: candidate.name, open) else { continue }
      let newContext = RecordContext(
        store: open.store, name: name, authenticationTag: store.tag)
      guard let resealed = try store.seal(payload, newContext, open, "") else { return nil }
      guard name != candidate.name else {
        writes.append(RecordWrite(resealed, for: name, if: .equals(record)))
        continue
      }
      writes.append(RecordWrite(nil, for: candidate.name, if: .equals(record)))
      writes.append(RecordWrite(resealed, for: name, if: .absent))
    }
    return writes
  }

  /// The hash under which a record that is taken back is found from now on.
  ///
  /// It differs from the old one if a rotation has replaced the key that hashes names.
  ///
  /// - Returns: nil when the record can't be taken back: the new hash has a record already, or
  ///   there is no room for two writes.
  private func presentName(
    of payload: [UInt8], under name: NameHash, _ open: OpenKeys
  ) throws(StorageError) -> NameHash? {
    guard isReadmitting else { return name }
    let key: String
    do throws(StorageError) {
      key = try unsafe Payload.name(payload.span.bytes)
    } catch {
      guard [.damaged, .unsupported].contains(error.code) else { throw error }
      return nil
    }
    let present = try store.name(key).context(in: open).name
    guard present != name else { return name }
    guard store.place.commitLimit > 1, let (record, _) = try lookup(present) else { return nil }
    return record == nil ? present : nil
  }

  /// The record under a name, or nil when the content is not a record and stays unchanged.
  ///
  /// - Throws: also `damaged` with the error number of a library. SQLite reports `damaged` for a
  ///   disk that failed once. Skipping the record would then end the key that the record still
  ///   needs.
  private func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64)? {
    do throws(StorageError) {
      return try store.place.lookup(name)
    } catch {
      guard error.code == .damaged, error.number == nil else { throw error }
      return nil
    }
  }

  /// Whether a record is still the record that was accounted for, or was there at the beginning.
  private func isMeant(
    _ record: [UInt8], _ candidate: Candidate, _ open: OpenKeys
  ) throws(StorageError) -> Bool {
    if case .older(let place, let version) = beginning {
      return try place.isRecord(record, of: candidate.name, olderThan: version)
    }
    guard let share = candidate.share, let keys = open.manifest else { return true }
    return try RecordShare(of: record, candidate.name, keys).isOfSameRecord(as: share)
  }

  /// The payload of a record, or nil when the record does not open and stays unchanged.
  private func openIfPossible(
    _ record: [UInt8], _ context: RecordContext, _ open: OpenKeys
  ) -> [UInt8]? {
    do throws(CryptoError) {
      var payload: [UInt8] = []
      let record = unsafe record.span.bytes
      if isReadmitting {
        try open.withReadmitted(record, for: context) { payload = $0.copied() }
      } else {
        try open.withOpened(record, for: context) { payload = $0.copied() }
      }
      return payload
    } catch {
      return nil
    }
  }

  private static let changing = StorageError(
    .busy, "the store's keys kept changing during the call; try again")
}

/// What a rotation seals again: what was there when it began, and nothing that somebody with the old
/// keys wrote later.
enum RotationBeginning {
  /// These records, which nobody could change until the header was.
  case snapshot(RecordSnapshot)
  /// Those that are older than a version of the header.
  case older(any DistantPlace, UInt64)
}

/// The records at one moment: the hashes of their bytes, by name.
typealias RecordSnapshot = [NameHash: RecordShare]

extension SealedStore {
  /// The header of a record, or nil when the record is damaged and stays unchanged.
  static func header(of record: [UInt8]) -> RecordHeader? {
    do throws(CryptoError) {
      return try unsafe RecordHeader(reading: record.span.bytes)
    } catch {
      return nil
    }
  }

  /// The key name of a record that was found under a hash, or nil when the record does not open
  /// there.
  ///
  /// With `isReadmitting`, retired keys may open the record too.
  func clearName(
    of record: [UInt8], under hash: NameHash, _ open: OpenKeys, isReadmitting: Bool = false
  ) throws(StorageError) -> String? {
    let context = RecordContext(store: open.store, name: hash, authenticationTag: tag)
    var payload: [UInt8] = []
    defer { Wipe.bytes(&payload) }
    do throws(StorageError) {
      try cryptography { () throws(CryptoError) in
        let record = unsafe record.span.bytes
        if isReadmitting {
          try open.withReadmitted(record, for: context) { payload = $0.copied() }
        } else {
          try open.withOpened(record, for: context) { payload = $0.copied() }
        }
      }
      return try unsafe Payload.name(payload.span.bytes)
    } catch {
      guard [.damaged, .unsupported].contains(error.code) else { throw error }
      return nil
    }
  }
}
