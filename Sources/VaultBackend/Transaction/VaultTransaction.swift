internal import CryptoCore
internal import StorageCore

/// The changes of one SQLite transaction, with the manifest kept in step.
///
/// It lives between BEGIN IMMEDIATE and COMMIT, under the gate.
struct VaultTransaction: ~Copyable {
  /// One name's change.
  struct Change {
    let name: NameHash
    let sequence: Int64
    let old: Replaced
    var new: KeptRecord

    /// Whether observers must be told: there is a record, or there was one.
    var isNews: Bool { new.record != nil || !old.isNothing }
  }

  /// The replaced record or tombstone, which is subtracted from the manifest.
  enum Replaced {
    case nothing
    /// A tombstone, and its share if that is known.
    case removal(Int64, RecordShare?)
    case record([UInt8])
    case share(RecordShare)

    /// Whether there was no record.
    var isNothing: Bool {
      switch self {
      case .nothing, .removal: true
      case .record, .share: false
      }
    }
  }

  /// A manifest in the file, and its keys.
  struct WrittenManifest {
    let manifest: Manifest
    let keys: ManifestKeys
  }

  let connection: Connection
  let memory: SharedLock<VaultMemory>
  let seen: SeenCommits
  let headerVersion: UInt64
  private let known: Int64
  var sequence: Int64
  var horizon: Int64?
  /// Whether more was changed than `changes` says: memory must then be read anew.
  var isWholesale = false
  /// The header, if it was changed.
  var header: [UInt8]?
  /// Whether replaced content must be wiped from the log as well.
  var isScrubNeeded = false
  /// The changes, in order.
  private(set) var changes: [Change] = []
  /// How many of the changes are written to their rows.
  private var written = 0
  /// How many of the changes are counted in the manifest.
  var accounted = 0
  /// Whether two of the changes have the same name.
  private var isNameRepeated = false
  /// The last change of each name; empty while there are few.
  private var lastChange: [NameKey: Int] = [:]
  private static let fewChanges = 32
  var manifest: Manifest?
  var keys: ManifestKeys?
  /// The buckets, one bit each, that were compared with the manifest and agree.
  var agreeing: UInt64 = 0

  /// A transaction over the present state of the file, which memory has already followed.
  ///
  /// The manifest that this process wrote with that state need not be read and authenticated again.
  init(
    _ connection: Connection, _ memory: SharedLock<VaultMemory>, _ seen: SeenCommits,
    over base: VaultMemory.WriteBase, _ written: consuming WrittenManifest?
  ) throws(StorageError) {
    self.connection = connection
    self.memory = memory
    self.seen = seen
    headerVersion = base.headerVersion
    known = base.generation
    sequence = known
    guard let keys = base.keys else { return }
    self.keys = keys
    if let written, written.keys.manifest === keys.manifest,
      written.manifest.generation == UInt64(known)
    {
      manifest = written.manifest
    } else {
      manifest = try readManifest(keys)
    }
  }

  /// The manifest in the file.
  ///
  /// Nil when the manifest was altered, or belongs to another commit than its row: then it stays as
  /// it is, for a verification to report. A planted record with a later number does not count here;
  /// otherwise junk could keep keys from being ended.
  private func readManifest(_ keys: ManifestKeys) throws(StorageError) -> Manifest? {
    guard let manifest = try Manifest.stored(in: connection, keys),
      manifest.generation == UInt64(try VaultRows.stamps(connection).manifest)
    else { return nil }
    return manifest
  }

  /// Reserves memory for this many writes.
  mutating func reserve(_ count: Int) {
    // Otherwise each write would grow the array by one.
    guard changes.isEmpty, count > 1 else { return }
    if count >= Self.fewChanges { lastChange.reserveCapacity(count) }
    changes.reserveCapacity(count)
  }

  /// Whether there is anything to commit.
  var isEmpty: Bool { sequence == known }

  /// The record of a name as this transaction sees it.
  func record(_ name: NameHash) throws(StorageError) -> [UInt8]? {
    if let index = lastChange(of: name) { return changes[index].new.record }
    if let record = memory.read({ $0.record(for: name) }) { return record }
    return try VaultRows.record(name, connection)
  }

  /// Writes or removes a record when the transaction ends.
  mutating func set(_ write: RecordWrite) throws(StorageError) {
    let (name, record) = (write.name, write.record)
    let last = record == nil ? lastChange(of: name) : replaceLastChange(of: name)
    let old = try replaced(name, last)
    if record == nil {
      // Somebody may have hidden the record, so that it only seems absent.
      if old.isNothing {
        guard last == nil else { return }
        if try needsNoTombstone(name, old) { return }
      }
      _ = replaceLastChange(of: name)
    }
    sequence += 1
    if last != nil { isNameRepeated = true }
    let new = KeptRecord(
      record: record, removal: record == nil ? sequence : 0, share: write.share)
    changes.append(Change(name: name, sequence: sequence, old: old, new: new))
    guard changes.count == Self.fewChanges else { return }
    for (index, change) in changes.enumerated() { lastChange[NameKey(change.name)] = index }
  }

  /// What a change of a name replaces; `last` is the name's last change in this transaction.
  private func replaced(_ name: NameHash, _ last: Int?) throws(StorageError) -> Replaced {
    if let last { return changes[last].new.replaced(under: keys) }
    if let known = memory.read({ $0.replaced(name, keys) }) { return known }
    return try VaultRows.kept(name, connection).replaced(under: keys)
  }

  private func lastChange(of name: NameHash) -> Int? {
    guard changes.count < Self.fewChanges else { return lastChange[NameKey(name)] }
    return changes.lastIndex { NameKey($0.name) == NameKey(name) }
  }

  /// Notes that the next change is about `name`.
  ///
  /// - Returns: the name's last change until now.
  private mutating func replaceLastChange(of name: NameHash) -> Int? {
    guard changes.count >= Self.fewChanges else { return lastChange(of: name) }
    return lastChange.updateValue(changes.count, forKey: NameKey(name))
  }

  /// Whether the manifest can be kept in step: its keys are open, or there is no manifest yet.
  ///
  /// The keys are missing if the header has changed since they were opened, and nobody in this
  /// process has opened the new ones yet.
  mutating func canKeepManifest() throws(StorageError) -> Bool {
    guard keys == nil else { return true }
    // A batch that has joined since the beginning may have opened them.
    if let opened = memory.read({ $0.currentManifestKeys }) {
      keys = opened
      manifest = try readManifest(opened)
      return true
    }
    return try VaultRows.manifest(connection).isEmpty
  }

  /// Adds the changes to the manifest.
  ///
  /// All at once: alternating between hashing and SQLite would make both slower.
  mutating func account() throws(StorageError) {
    guard let keys, accounted < changes.count, var manifest else { return }
    // Nobody else has a copy now, so the manifest is changed in place.
    self.manifest = nil
    for index in accounted..<changes.count {
      let name = changes[index].name
      switch changes[index].old {
      case .nothing: break
      case .share(let share): manifest.remove(share, name)
      case .record(let old): try manifest.remove(old, name, keys)
      case .removal(let sequence, let share):
        if let share {
          manifest.takeRemoval(share, name)
        } else {
          manifest.takeRemoval(try RecordShare(ofRemoval: sequence, name, keys), name)
        }
      }
      guard let record = changes[index].new.record else {
        let share = try RecordShare(ofRemoval: changes[index].sequence, name, keys)
        changes[index].new = changes[index].new.with(share)
        manifest.addRemoval(share, name)
        continue
      }
      let share: RecordShare
      if let hashed = changes[index].new.share, hashed.isUnder(keys) {
        share = hashed
      } else {
        // The record was handed over when other keys, or none, were open.
        share = try RecordShare(of: record, name, keys)
        changes[index].new = changes[index].new.with(share)
      }
      manifest.add(share, name)
    }
    accounted = changes.count
    self.manifest = manifest
  }

  // MARK: - The header

  /// Lets `body` change the header and all records.
  mutating func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) {
    let old = memory.read { $0.header }
    var new = old
    var newKeys: ManifestKeys?
    var oldKeys: ManifestKeys?
    var renamed: [(old: NameHash, new: NameHash, record: [UInt8])] = []
    let connection = connection
    let known = manifest
    var held = HeldRecords(
      isEmpty: try VaultRows.isEmpty(connection),
      visiting: { (body) throws(StorageError) in
        var count: UInt64 = 0
        try VaultRows.visit(connection) { (name, record) throws(StorageError) in
          count += 1
          body(name, record)
        }
        let hidden = try Self.hiddenCount(
          Self.formerManifest(known, oldKeys, connection), besides: count, connection)
        guard hidden > 0, let name = NameHash([UInt8](repeating: 0, count: 64)) else { return }
        for _ in 0..<hidden { body(name, []) }
      },
      rewriting: { (rewrite) throws(StorageError) in
        try VaultRows.visit(connection) { (name, record) throws(StorageError) in
          if let (newName, newRecord) = try rewrite(name, record) {
            renamed.append((name, newName, newRecord))
          }
        }
      },
      authenticating: { (keys, old) throws(StorageError) in (newKeys, oldKeys) = (keys, old) })
    held.provingAll = { () throws(StorageError) in
      guard let oldKeys, let former = try Self.formerManifest(known, oldKeys, connection) else {
        return false
      }
      return former.hasRecords(of: try Manifest.computed(connection, oldKeys))
    }
    try body(&new, held)
    guard new != old || !renamed.isEmpty else { return }
    guard let new else {
      throw StorageError(.invalid, "the header of a vault can't be removed")
    }
    header = new
    isScrubNeeded = !renamed.isEmpty || !HeaderChange.isReservation(from: old, to: new)
    sequence += 1
    try VaultRows.setMeta(VaultSchema.Row.header, new, sequence: sequence, connection)
    try authenticate(with: newKeys, replacing: oldKeys, isNew: old == nil && held.isEmpty)
    try rename(renamed, oldKeys)
  }

  /// Continues with other keys.
  private mutating func authenticate(
    with new: ManifestKeys?, replacing old: ManifestKeys?, isNew: Bool
  ) throws(StorageError) {
    guard let new else { return }
    if manifest == nil, isNew {
      manifest = try Manifest.computed(connection, new)
    } else if keys == nil, let old {
      // Another process has changed the header since this one opened its keys.
      manifest = try readManifest(old)
    }
    keys = new
  }

  /// Moves records to other names, and the manifest to the matching keys.
  private mutating func rename(
    _ renamed: [(old: NameHash, new: NameHash, record: [UInt8])], _ oldKeys: ManifestKeys?
  ) throws(StorageError) {
    var isRenaming = !renamed.isEmpty
    // Without records, tombstones may be the only rows with a name.
    if !isRenaming, let keys, let oldKeys {
      isRenaming = try keys.hashOtherwise(than: oldKeys)
    }
    guard isRenaming else { return }
    // A new manifest would hide what somebody has done to the records, so they are compared first.
    if let manifest, let oldKeys,
      try !Manifest.computed(connection, oldKeys).agrees(with: manifest)
    {
      throw StorageError(
        .damaged,
        "records were added, removed or put back by somebody without the keys; verify and repair the "
          + "vault first", path: connection.path)
    }
    for entry in renamed {
      sequence += 1
      try connection.statement("DELETE FROM record WHERE name = ?1").run(.blob(entry.old.bytes))
      try VaultRows.set(entry.record, for: entry.new, sequence: sequence, connection)
    }
    let isKept = manifest != nil
    // The names behind the old hashes of tombstones are unknown, so tombstones are removed.
    if isKept { try connection.statement("DELETE FROM record WHERE value IS NULL").run() }
    try recompute()
    // An altered manifest stays altered, for a verification to report.
    if !isKept { manifest = nil }
  }

  // MARK: - Ending

  /// Writes the rows of the changes since the last time.
  mutating func writeRows() throws(StorageError) {
    var index = written
    while !isNameRepeated, changes.count - index >= VaultRows.batchSize {
      let rows = index..<index + VaultRows.batchSize
      try VaultRows.setBatch(rows, connection) {
        (changes[$0].sequence, changes[$0].name, changes[$0].new.record)
      }
      index = rows.upperBound
    }
    for change in changes[index...] {
      try VaultRows.set(
        change.new.record, for: change.name, sequence: change.sequence, connection)
    }
    written = changes.count
  }

  /// Commits all changes durably.
  ///
  /// - Throws: `StorageError`; nothing is changed, except with `outcomeUnknown`.
  mutating func commit() throws(StorageError) {
    guard sequence < VaultRows.sequenceLimit else {
      throw StorageError(
        .damaged,
        "the vault's sequence numbers were altered and have come to their end; verify and "
          + "repair it", path: connection.path)
    }
    try writeRows()
    try account()
    if isWholesale {
      horizon = sequence
    } else {
      try forgetRemovals()
    }
    if let horizon {
      try VaultRows.setMeta(VaultSchema.Row.horizon, [], sequence: horizon, connection)
    }
    if let keys, manifest != nil {
      manifest!.generation = UInt64(sequence)
      try VaultRows.setMeta(
        VaultSchema.Row.manifest, try manifest!.bytes(keys), sequence: sequence, connection)
    } else {
      try connection.statement("UPDATE meta SET sequence = ?1 WHERE id = 2")
        .run(.integer(sequence))
    }
    try connection.commit()
  }
}
