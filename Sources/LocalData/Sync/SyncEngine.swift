internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// Brings this machine's value of one key and the shared value together.
///
/// No clock is used: the record in the ledger has the digests of both sides at the last agreement,
/// which show what changed since. Each side is written by comparing with what was read. If the
/// process dies between writing and recording, the next run finds both sides equal.
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
    /// The bytes that are stored here, and the serialized value in them.
    var stored: Data?
    var local: Data?
    /// The bytes in the shared store, and the entry in them.
    var sharedBytes: Data?
    var shared: SyncEntry?
  }

  /// Runs the sync.
  ///
  /// - Throws: `StorageError`; nothing was then changed here.
  func run() async throws -> SyncOutcome<Key.Value> {
    for _ in 0..<Self.attempts {
      if let outcome = try await attempt() { return outcome }
    }
    throw StorageError(
      .busy, "others changed the value while it was synced; try again", key: key.name)
  }

  /// The size of this machine's serialized value in bytes; 0 if there is none.
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
        "the shared store has version \(shared.version) of the value, but this machine has already seen "
          + "version \(record.version): the entry was restored from a backup, or tampered with. Nothing was "
          + "changed here; remove the shared entry, then sync again")
    }
    return sides
  }

  /// One attempt; nil if a side changed meanwhile.
  private func attempt() async throws -> SyncOutcome<Key.Value>? {
    let sides: Sides
    do throws(StorageError) { sides = try await look() } catch { throw error.about(key.name) }
    let localDigest = try ValueDigest.ofAny(sides.local)
    guard let shared = sides.shared, let sharedBytes = sides.sharedBytes else {
      // The shared store never had an entry or lost it; a removal would have left one.
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
    // If the version is not newer but the bytes differ, another machine wrote from an older state.
    if !isLocalChanged, shared.version > sides.record?.version ?? 0 {
      return try await receive(shared, sharedDigest, sides)
    }
    return try await resolveConflict(shared, sharedDigest, sides)
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
    try await record(entry, sharedDigest, try ValueDigest.ofAny(entry.value))
    return .received
  }

  /// Stores or removes the serialized value here, if the stored bytes are still those that were
  /// read.
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

  private func resolveConflict(
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
    case .keepLocal: return try await send(sides.local, sides, try ValueDigest.ofAny(sides.local))
    case .use(let value):
      let new = try value.map { (value) throws(StorageError) in
        try route.serializer.encode(value)
      }
      // Send first, while the shared entry is still the one that the application saw. This
      // machine's value stays until the new one is safe in the shared store.
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
    // If another task writes meanwhile, the next attempt reports a conflict with the sent value.
    guard try await store(new, over: sides.stored) else { return nil }
    try await record(entry, try ValueDigest.of(bytes), try ValueDigest.ofAny(new))
    return .sent
  }
}
