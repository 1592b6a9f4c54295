internal import CryptoCore
internal import StorageCore

internal import struct Foundation.Data

/// Brings this machine's value of one key and the shared one together.
///
/// What counts is what changed since both sides last agreed, and never a clock: the record in the ledger
/// has the digests of both. Each side is written by comparing with what was read. Whoever dies between
/// writing and recording finds both sides equal in the next run.
struct SyncEngine<Key: StorageKey>: Sendable {
  typealias Resolver =
    @Sendable (SyncConflict<Key.Value>) async throws -> SyncResolution<Key.Value>

  let key: Key
  let route: Route<Key.Value>
  let sealer: SyncSealer
  let link: SyncLink
  let ledger: Ledger
  let resolve: Resolver?
  private let name: String
  private static var attempts: Int { 20 }

  init(
    _ key: Key, _ route: Route<Key.Value>, _ sealer: SyncSealer, _ link: SyncLink,
    _ ledger: Ledger, _ resolve: Resolver?
  ) {
    self.key = key
    self.route = route
    self.sealer = sealer
    self.link = link
    self.ledger = ledger
    self.resolve = resolve
    name = "localdata:\(key.domain)/\(key.name)"
  }

  /// Both sides, as they were read.
  private struct Sides: Sendable {
    var record: SyncRecord?
    /// What is stored here, and its serialized value.
    var stored: Data?
    var local: Data?
    /// What is in the shared store, and what it says.
    var sharedBytes: Data?
    var shared: SyncEntry?
  }

  /// Syncs.
  ///
  /// - Throws: `StorageError`; nothing was then changed here.
  func run() async throws -> SyncOutcome<Key.Value> {
    for _ in 0..<Self.attempts {
      if let outcome = try await attempt() { return outcome }
    }
    throw StorageError(
      .busy, "others changed the value while it was synced; try again", key: key.name)
  }

  /// How many bytes the value has here, serialized; 0 when there is none.
  func size() async throws(StorageError) -> Int { try await local().serialized?.count ?? 0 }

  // MARK: - Looking

  private func local() async throws(StorageError) -> (stored: Data?, serialized: Data?) {
    let stored = try await Blocking.run { [route] () throws(StorageError) in
      try route.stored()
    }
    guard let stored else { return (nil, nil) }
    return (stored, try await route.serialized(stored))
  }

  private func look() async throws(StorageError) -> Sides {
    var sides = Sides()
    sides.record = try await Blocking.run { [ledger, key, link] () throws(StorageError) in
      try ledger.syncRecord(key, link.transport.id)
    }
    (sides.stored, sides.local) = try await local()
    sides.sharedBytes = try await link.read(name)
    if let bytes = sides.sharedBytes {
      let entry = try await sealer.entry(of: bytes)
      if let value = entry.value { try route.check(value) }
      sides.shared = entry
    }
    if let record = sides.record, let shared = sides.shared, shared.version < record.version {
      throw StorageError(
        .damaged,
        "the shared store has an older version of the value, \(shared.version), than this machine has "
          + "seen, \(record.version): it was put back from a backup, or tampered with. Nothing was "
          + "changed here; remove the entry there, then sync again")
    }
    return sides
  }

  /// One attempt; nil when a side changed meanwhile.
  private func attempt() async throws -> SyncOutcome<Key.Value>? {
    let sides: Sides
    do throws(StorageError) { sides = try await look() } catch { throw error.about(key.name) }
    let localDigest = try sides.local.map { (bytes) throws(StorageError) in
      try ValueDigest.of(bytes)
    }
    guard let shared = sides.shared, let sharedBytes = sides.sharedBytes else {
      // Never there, or lost with the shared store: a removal leaves an entry.
      if sides.local == nil { return .upToDate }
      return try await send(sides.local, sides, localDigest)
    }
    let sharedDigest = try ValueDigest.of(sharedBytes)
    let isLocalChanged =
      sides.record.map { $0.local != localDigest } ?? (sides.local != nil)
    let isSharedChanged = sides.record?.shared != sharedDigest
    if shared.value == sides.local {
      if isSharedChanged || isLocalChanged { try await record(shared, sharedDigest, localDigest) }
      return .upToDate
    }
    if !isSharedChanged { return try await send(sides.local, sides, localDigest) }
    // The same version with other bytes was written from an older state of the shared store.
    if !isLocalChanged, shared.version > sides.record?.version ?? 0 {
      return try await receive(shared, sharedDigest, sides)
    }
    return try await settle(shared, sharedDigest, sides)
  }

  // MARK: - Changing

  private func record(
    _ entry: SyncEntry, _ shared: [UInt8], _ local: [UInt8]?
  ) async throws(StorageError) {
    try await Blocking.run { [ledger, key, link] () throws(StorageError) in
      try ledger.record(
        SyncRecord(version: entry.version, shared: shared, local: local), key, link.transport.id)
    }
  }

  private func send(
    _ value: Data?, _ sides: Sides, _ digest: [UInt8]?
  ) async throws -> SyncOutcome<Key.Value>? {
    let last = max(sides.shared?.version ?? 0, sides.record?.version ?? 0)
    guard last < .max else { throw SyncEntry.damaged.about(key.name) }
    let entry = SyncEntry(version: last + 1, value: value)
    do throws(StorageError) {
      let bytes = try await sealer.bytes(of: entry)
      guard try await link.replace(name, sides.sharedBytes, with: bytes) else { return nil }
      try await record(entry, try ValueDigest.of(bytes), digest)
    } catch {
      throw error.about(key.name)
    }
    return .sent
  }

  private func receive(
    _ entry: SyncEntry, _ sharedDigest: [UInt8], _ sides: Sides
  ) async throws -> SyncOutcome<Key.Value>? {
    guard try await store(entry.value, over: sides.stored) else { return nil }
    let digest = try entry.value.map { (bytes) throws(StorageError) in try ValueDigest.of(bytes) }
    try await record(entry, sharedDigest, digest)
    return .received
  }

  /// Stores a serialized value here, or removes it, if what is stored is what was read.
  private func store(_ value: Data?, over old: Data?) async throws(StorageError) -> Bool {
    guard value != nil || old != nil else { return true }
    do throws(StorageError) {
      let new: Data?
      if let value { new = try await route.sealed(value) } else { new = nil }
      return try await Blocking.run { [route] () throws(StorageError) in
        if new != nil { try route.beforeWriting() }
        return try route.exchange(old, new)
      }
    } catch {
      throw error.about(key.name)
    }
  }

  // MARK: - Conflicts

  private func settle(
    _ shared: SyncEntry, _ sharedDigest: [UInt8], _ sides: Sides
  ) async throws -> SyncOutcome<Key.Value>? {
    let decode = { (bytes: Data) throws(StorageError) in
      try route.serializer.decode(Key.Value.self, bytes)
    }
    let conflict = SyncConflict(
      name: key.name, domain: key.domain, local: try sides.local.map(decode),
      shared: try shared.value.map(decode), version: shared.version)
    guard let resolve else { return .conflict(conflict) }
    switch try await resolve(conflict) {
    case .leave: return .conflict(conflict)
    case .takeShared: return try await receive(shared, sharedDigest, sides)
    case .keepLocal:
      let digest = try sides.local.map { (bytes) throws(StorageError) in
        try ValueDigest.of(bytes)
      }
      return try await send(sides.local, sides, digest)
    case .use(let value):
      let new = try value.map { (value) throws(StorageError) in
        try route.serializer.encode(value)
      }
      // Sent first, while the shared entry is the one that the application saw: this machine's value
      // stays here until the new one is safe there.
      return try await replaceBoth(new, shared, sides)
    }
  }

  private func replaceBoth(
    _ new: Data?, _ shared: SyncEntry, _ sides: Sides
  ) async throws -> SyncOutcome<Key.Value>? {
    guard shared.version < .max else { throw SyncEntry.damaged.about(key.name) }
    let entry = SyncEntry(version: shared.version + 1, value: new)
    let bytes = try await sealer.bytes(of: entry)
    guard try await link.replace(name, sides.sharedBytes, with: bytes) else { return nil }
    // A write of another task meanwhile makes a conflict with what was sent, which is told.
    guard try await store(new, over: sides.stored) else { return nil }
    let digest = try new.map { (bytes) throws(StorageError) in try ValueDigest.of(bytes) }
    try await record(entry, try ValueDigest.of(bytes), digest)
    return .sent
  }
}
