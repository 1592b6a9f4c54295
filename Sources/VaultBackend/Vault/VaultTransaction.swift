internal import CryptoCore
internal import StorageCore

/// The changes of one SQLite transaction, with the manifest kept in step.
///
/// Lives between BEGIN IMMEDIATE and COMMIT, under the gate.
struct VaultTransaction: ~Copyable {
  /// One name's change.
  struct Change {
    let name: NameHash
    let sequence: Int64
    let old: Replaced
    var new: KeptRecord
  }

  /// What a change is to be taken out of the manifest by; one object of the two that memory may have.
  enum Replaced {
    case nothing
    case record([UInt8])
    case share(RecordShare)

    /// Whether there was nothing.
    var isNothing: Bool {
      guard case .nothing = self else { return false }
      return true
    }
  }

  let connection: Connection
  private let vault: VaultEngine
  private let known: Int64
  private(set) var sequence: Int64
  private(set) var horizon: Int64?
  /// Whether more was changed than `changes` says: then memory is to be read anew.
  private(set) var isWholesale = false
  /// The header, if it was changed.
  private(set) var header: [UInt8]?
  /// Whether what was replaced is to be wiped from the log as well.
  private(set) var isScrubNeeded = false
  /// What was changed, in order.
  private(set) var changes: [Change] = []
  /// How many of the changes are in their rows.
  private var written = 0
  /// How many of the changes are in the manifest.
  private var accounted = 0
  /// Whether two of the changes are of one name.
  private var isNameRepeated = false
  /// Which change of a name is the last; empty while there are few.
  private var lastChange: [NameKey: Int] = [:]
  private static let fewChanges = 32
  private(set) var manifest: Manifest?
  private(set) var keys: ManifestKeys?

  /// A transaction over the present state of the file, which memory has caught up with.
  init(_ connection: Connection, _ vault: VaultEngine) throws(StorageError) {
    self.connection = connection
    self.vault = vault
    known = vault.memory.withLock { $0.generation }
    sequence = known
    try takeKeys()
  }

  /// Takes the keys of the present header, if they are open, and the manifest.
  private mutating func takeKeys() throws(StorageError) {
    guard let keys = vault.memory.withLock({ $0.currentManifestKeys }) else { return }
    self.keys = keys
    if let written = vault.memory.withLock({ $0.manifest(keys) }) {
      manifest = written
    } else {
      manifest = try Self.manifest(try VaultRows.manifest(connection), keys)
    }
  }

  /// The manifest, or nil when it was altered: then it stays as it is, for verification to tell.
  private static func manifest(
    _ bytes: [UInt8], _ keys: ManifestKeys
  ) throws(StorageError) -> Manifest? {
    do throws(StorageError) {
      return try Manifest(reading: bytes, keys)
    } catch {
      guard error.code == .damaged else { throw error }
      return nil
    }
  }

  /// Makes room for as many writes.
  mutating func reserve(_ count: Int) {
    // One after the other would each grow it by one.
    guard changes.isEmpty, count > 1 else { return }
    if count >= Self.fewChanges { lastChange.reserveCapacity(count) }
    changes.reserveCapacity(count)
  }

  /// Whether there is anything to commit.
  var isEmpty: Bool { sequence == known }

  /// The record of a name as this transaction sees it.
  func record(_ name: NameHash) throws(StorageError) -> [UInt8]? {
    if let index = lastChange(of: name) { return changes[index].new.record }
    if let record = vault.memory.withLock({ $0.record(for: name) }) { return record }
    return try VaultRows.record(name, connection)
  }

  /// Keeps a record, or removes it, when the transaction ends.
  mutating func set(_ write: RecordWrite) throws(StorageError) {
    let (name, record) = (write.name, write.record)
    let last = record == nil ? lastChange(of: name) : replaceLastChange(of: name)
    let old = try replaced(name, last)
    if record == nil {
      // There is nothing to write, and nothing to tell, when what is removed is not there.
      if old.isNothing { return }
      _ = replaceLastChange(of: name)
    }
    sequence += 1
    if last != nil { isNameRepeated = true }
    let new = KeptRecord(record: record, share: write.share)
    changes.append(Change(name: name, sequence: sequence, old: old, new: new))
    guard changes.count == Self.fewChanges else { return }
    for (index, change) in changes.enumerated() { lastChange[NameKey(change.name)] = index }
  }

  /// What a change of a name replaces, of which change `last` was the last in this transaction.
  private func replaced(_ name: NameHash, _ last: Int?) throws(StorageError) -> Replaced {
    if let last { return changes[last].new.replaced(under: keys) }
    if let known = vault.memory.withLock({ $0.replaced(name, keys) }) { return known }
    return try VaultRows.record(name, connection).map { .record($0) } ?? .nothing
  }

  private func lastChange(of name: NameHash) -> Int? {
    guard changes.count < Self.fewChanges else { return lastChange[NameKey(name)] }
    return changes.lastIndex { NameKey($0.name) == NameKey(name) }
  }

  /// Notes that the next change is one of `name`.
  ///
  /// - Returns: which one was the last until now.
  private mutating func replaceLastChange(of name: NameHash) -> Int? {
    guard changes.count >= Self.fewChanges else { return lastChange(of: name) }
    return lastChange.updateValue(changes.count, forKey: NameKey(name))
  }

  /// Whether the keys are here that keep the manifest in step, or there is none to keep.
  ///
  /// They are not when the header was changed since they were opened, and nobody here has opened
  /// those of the new one yet.
  mutating func canKeepManifest() throws(StorageError) -> Bool {
    // Whoever has joined the leader may have opened them since the beginning.
    if keys == nil { try takeKeys() }
    guard keys == nil else { return true }
    return try VaultRows.manifest(connection).isEmpty
  }

  /// Brings the manifest up to what was changed.
  ///
  /// In one go: by turns with SQLite, hashing what is replaced takes longer, and so does writing.
  private mutating func account() throws(StorageError) {
    guard let keys, var manifest else { return }
    // Changed in place: nobody else has it now.
    self.manifest = nil
    vault.memory.withLock { $0.keep(nil, nil) }
    for index in accounted..<changes.count {
      let name = changes[index].name
      switch changes[index].old {
      case .nothing: break
      case .share(let share): manifest.remove(share, name)
      case .record(let old): try manifest.remove(old, name, keys)
      }
      guard let record = changes[index].new.record else { continue }
      let share: RecordShare
      if let hashed = changes[index].new.share, hashed.isUnder(keys) {
        share = hashed
      } else {
        // The keys were not open yet, or others, when it was handed over.
        share = try RecordShare(of: record, name, keys)
        changes[index].new.share = share
      }
      manifest.add(share, name)
    }
    accounted = changes.count
    self.manifest = manifest
  }

  // MARK: - The header

  /// Lets `body` change the header, and with it all records.
  mutating func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) {
    let old = vault.memory.withLock { $0.header }
    var new = old
    var newKeys: ManifestKeys?
    var oldKeys: ManifestKeys?
    var renamed: [(old: NameHash, new: NameHash, record: [UInt8])] = []
    let connection = connection
    let known = manifest?.count
    let held = HeldRecords(
      isEmpty: try VaultRows.isEmpty(connection),
      visiting: { (body) throws(StorageError) in
        var count: UInt64 = 0
        try VaultRows.visit(connection) { (name, record) throws(StorageError) in
          count += 1
          body(name, record)
        }
        // Another process may have changed the header since this one opened its keys.
        var written = known
        if written == nil, let oldKeys {
          written = try Self.manifest(try VaultRows.manifest(connection), oldKeys)?.count
        }
        // What the table leaves out may still be there, under any key, for a repair to find. It has no
        // name here, and as a record that says nothing of its key it keeps them all.
        guard let written, written > count, let name = NameHash([UInt8](repeating: 0, count: 64))
        else { return }
        for _ in 0..<min(written - count, 1 << 32) { body(name, []) }
      },
      rewriting: { (rewrite) throws(StorageError) in
        try VaultRows.visit(connection) { (name, record) throws(StorageError) in
          if let (newName, newRecord) = try rewrite(name, record) {
            renamed.append((name, newName, newRecord))
          }
        }
      },
      authenticating: { (keys, old) throws(StorageError) in (newKeys, oldKeys) = (keys, old) })
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

  /// Goes on with other keys.
  private mutating func authenticate(
    with new: ManifestKeys?, replacing old: ManifestKeys?, isNew: Bool
  ) throws(StorageError) {
    guard let new else { return }
    if manifest == nil, isNew {
      manifest = Manifest()
    } else if keys == nil, let old {
      // Another process has changed the header since this one opened its keys.
      manifest = try Self.manifest(try VaultRows.manifest(connection), old)
    }
    keys = new
  }

  /// Puts records under other names, and the manifest on the keys that go with them.
  private mutating func rename(
    _ renamed: [(old: NameHash, new: NameHash, record: [UInt8])], _ oldKeys: ManifestKeys?
  ) throws(StorageError) {
    guard !renamed.isEmpty else { return }
    // A manifest that is made anew would hide what somebody has done to the records.
    if let manifest, let oldKeys,
      try !manifest.agrees(with: Self.computed(connection, oldKeys))
    {
      throw StorageError(
        .damaged,
        "records were removed or put back by somebody without the keys; verify and repair the vault "
          + "first", path: connection.path)
    }
    for entry in renamed {
      sequence += 1
      try connection.statement("DELETE FROM record WHERE name = ?1").run(.blob(entry.old.bytes))
      try VaultRows.set(entry.record, for: entry.new, sequence: sequence, connection)
    }
    let isKept = manifest != nil
    try recompute()
    // One that was altered before stays so, for verification to tell.
    if !isKept { manifest = nil }
  }

  /// Removes records at once; the manifest is to be made anew.
  func drop(_ names: [NameHash]) throws(StorageError) {
    for name in names {
      try connection.statement("DELETE FROM record WHERE name = ?1").run(.blob(name.bytes))
    }
  }

  /// Forgets what was removed.
  mutating func forgetRemovals() throws(StorageError) {
    sequence += 1
    isWholesale = true
    try connection.statement("DELETE FROM record WHERE value IS NULL").run()
  }

  /// Takes all records and the header of another vault, whose keys are given.
  ///
  /// - Throws: `busy` when the records are not those that its manifest tells of: it was looked at
  ///   before, so somebody has changed it since, and a manifest made anew would hide that.
  mutating func replaceAll(
    with source: Connection, _ new: [UInt8], _ sourceKeys: ManifestKeys
  ) throws(StorageError) {
    try connection.statement("DELETE FROM record").run()
    let connection = connection
    var last = sequence
    try VaultRows.visit(source) { (name, record) throws(StorageError) in
      last += 1
      try VaultRows.set(record, for: name, sequence: last, connection)
    }
    sequence = last + 1
    header = new
    isScrubNeeded = true
    try VaultRows.setMeta(VaultSchema.Row.header, new, sequence: sequence, connection)
    try recompute(under: sourceKeys)
    let told = try Self.manifest(try VaultRows.manifest(source), sourceKeys)
    guard let told, let manifest, manifest.agrees(with: told) else {
      throw StorageError(
        .busy, "the backup was changed meanwhile; verify it, and try again", path: source.path)
    }
  }

  /// Makes the manifest anew from the records as they are, and has every process read them again.
  ///
  /// - Parameter other: the manifest's keys from now on; nil for those of the transaction.
  /// - Throws: `StorageError` when the records can't be read.
  mutating func recompute(under other: ManifestKeys? = nil) throws(StorageError) {
    if let other { keys = other }
    sequence += 1
    isWholesale = true
    guard let keys else { return }
    accounted = changes.count  // the rows have it all
    manifest = try Self.computed(connection, keys)
  }

  /// Whether the records are those that the manifest beside them tells of.
  static func isAsWritten(
    _ connection: Connection, _ keys: ManifestKeys
  ) throws(StorageError) -> Bool {
    guard let told = try manifest(try VaultRows.manifest(connection), keys) else { return false }
    return try computed(connection, keys).agrees(with: told)
  }

  /// The manifest of the records as they are.
  static func computed(
    _ connection: Connection, _ keys: ManifestKeys
  ) throws(StorageError) -> Manifest {
    var manifest = Manifest()
    try VaultRows.visit(connection) { (name, record) throws(StorageError) in
      try manifest.add(record, name, keys)
    }
    return manifest
  }

  // MARK: - Ending

  /// Writes the rows of what was changed since the last time.
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

  /// Makes it all durable.
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
    if isWholesale {
      horizon = sequence
    } else if changes.contains(where: { $0.new.record == nil }) {
      horizon = try VaultRows.pruneTombstones(connection)
    }
    if let horizon {
      try VaultRows.setMeta(VaultSchema.Row.horizon, [], sequence: horizon, connection)
    }
    try account()
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
