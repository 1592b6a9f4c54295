internal import CryptoCore
internal import Synchronization

/// The keys of an open store, ready to use.
///
/// Only the count of seals and the header version change.
final class OpenKeys: Sendable {
  let store: StoreID
  /// Nil for a store without a header, whose keys are derived from the application's key.
  let root: RootKey?
  let names: KeyedHash
  /// Identifies the pair of store and name key: within one name space, a name always has the same
  /// hash.
  let nameSpace: NameSpace
  let primary: DataKey
  private let others: [UInt32: DataKey]
  /// The keyset entries of the data keys: after a backup was put back, an id can belong to another
  /// key.
  private let entries: [UInt32: Keyset.Entry]
  private let nameKey: SymmetricKey
  /// The keys of the manifest; nil for a store without a header.
  let manifest: ManifestKeys?
  /// Made at the first use: few stores mark anything.
  private let rootMarks = SetOnce<KeyedHash>()
  /// Receives each name that is hashed, where the delegate stores names unencrypted.
  let clear: ClearRecords?
  /// The version of the header that holds these keys.
  ///
  /// Also set when the header changes and the keys stay the same.
  var headerVersion: UInt64 {
    get { atomicVersion.load(ordering: .relaxed) }
    set { atomicVersion.store(newValue, ordering: .relaxed) }
  }
  private let atomicVersion = Atomic<UInt64>(0)
  /// How many reserved seals of the primary key the process that made this object has left.
  private let reserved: Atomic<Int>
  private let forks = ForkCount.shared
  private let maker: Int

  /// Compared by identity.
  final class NameSpace: Sendable {
    let store: StoreID
    let key: SymmetricKey

    init(store: StoreID, key: SymmetricKey) {
      self.store = store
      self.key = key
    }
  }

  /// Makes the keys of a keyset.
  ///
  /// Shares the name hash of `previous` if the name key is the same.
  init(
    _ keyset: Keyset, root: RootKey, store: StoreID, previous: OpenKeys?
  ) throws(StorageError) {
    self.store = store
    self.root = root
    nameKey = keyset.nameKey
    clear = nil
    manifest = try keyset.manifestKeys(store: store)
    if let space = previous?.nameSpace, space.store == store, space.key == keyset.nameKey {
      nameSpace = space
      names = previous!.names
    } else {
      nameSpace = NameSpace(store: store, key: keyset.nameKey)
      names = try cryptography { () throws(CryptoError) in try KeyedHash(keyset.nameKey) }
    }
    var keys: [UInt32: DataKey] = [:]
    var entries: [UInt32: Keyset.Entry] = [:]
    for var entry in keyset.entries {
      // One object for a key, however many headers have it.
      if let known = previous?.entries[entry.id]?.key, known == entry.key { entry.key = known }
      entries[entry.id] = entry
      // There may be many retired keys, and few are ever used.
      guard entry.state != .retired else { continue }
      keys[entry.id] = try cryptography { () throws(CryptoError) in
        try DataKey(entry.key, id: entry.id, algorithm: entry.algorithm)
      }
    }
    primary = keys[keyset.primaryID]!
    others = keys
    self.entries = entries
    reserved = Atomic(0)
    maker = forks.current
  }

  /// Derives the keys from `key` alone, for a delegate that can't hold a header.
  ///
  /// They seal with XAES-256-GCM, since nothing counts their seals.
  init(directly key: SymmetricKey, clear: ClearRecords? = nil) throws(StorageError) {
    guard key.bitCount == 256 else {
      throw StorageError(
        .invalid, "a store's key must have 256 bits, but this key has \(key.bitCount)")
    }
    func derive(_ label: [UInt8], _ count: Int) throws(StorageError) -> SecureBytes {
      try cryptography { () throws(CryptoError) in
        try KeyDerivation.hkdf(key.bytes, salt: [], info: label, count: count)
      }
    }
    store = StoreID(try derive(Label.directStore, StoreID.byteCount).withBytes { $0.copied() })!
    root = nil
    let nameKey = SymmetricKey(bytes: try derive(Label.directName, 32))
    self.nameKey = nameKey
    manifest = nil
    self.clear = clear
    nameSpace = NameSpace(store: store, key: nameKey)
    names = try cryptography { () throws(CryptoError) in try KeyedHash(nameKey) }
    let data = SymmetricKey(bytes: try derive(Label.directData, 32))
    primary = try cryptography { () throws(CryptoError) in
      try DataKey(data, id: 1, algorithm: .xaes256GCM)
    }
    others = [:]
    entries = [:]
    reserved = Atomic(0)
    maker = forks.current
  }

  /// Whether these are the keys of `keyset`; ignores its counts of reserved seals.
  func isOpen(_ keyset: Keyset) -> Bool {
    keyset.nameKey == nameKey && keyset.primaryID == primary.id
      && keyset.entries.count == entries.count
      && keyset.entries.allSatisfy {
        entries[$0.id]?.key == $0.key && entries[$0.id]?.state == $0.state
      }
  }

  /// Whether one of these keys can open a record of the data key `id`.
  func holds(_ id: UInt32) -> Bool { id == primary.id || others[id] != nil }

  /// Whether a rotation has retired the data key `id`, and so set aside its records.
  func isRetired(_ id: UInt32) -> Bool { entries[id]?.state == .retired }

  /// The ids of the data keys that a re-encryption is to retire.
  var ending: Set<UInt32> { Set(entries.values.filter { $0.state == .ending }.map(\.id)) }

  /// Opens a record with the key that the record names and lends the plaintext, which is wiped
  /// afterwards.
  func withOpened(
    _ record: RawSpan, for context: RecordContext, _ body: (RawSpan) -> Void
  ) throws(CryptoError) {
    let id = try RecordHeader(reading: record).keyID
    guard id == primary.id else { return try withOther(id, record, for: context, body) }
    try primary.withOpened(record, for: context, body)
  }

  // A function of its own, so that the usual case counts no reference to the primary key.
  @inline(never)
  private func withOther(
    _ id: UInt32, _ record: RawSpan, for context: RecordContext, _ body: (RawSpan) -> Void
  ) throws(CryptoError) {
    guard let key = others[id] else {
      let what =
        !isRetired(id)
        ? "the record is sealed under data key \(id), which the store does not have"
        : "the record is sealed under data key \(id), which a rotation has retired; if you know and trust "
          + "who wrote it, take it back with reencrypt(readmitting: true)"
      throw CryptoError(.malformed, what)
    }
    try key.withOpened(record, for: context, body)
  }

  /// The same, but also opens with a retired key; for a caller that takes the record back.
  func withReadmitted(
    _ record: RawSpan, for context: RecordContext, _ body: (RawSpan) -> Void
  ) throws(CryptoError) {
    let id = try RecordHeader(reading: record).keyID
    guard let entry = entries[id], entry.state == .retired else {
      return try withOpened(record, for: context, body)
    }
    try DataKey(entry.key, id: id, algorithm: entry.algorithm)
      .withOpened(record, for: context, body)
  }

  /// Whether this process made these keys.
  ///
  /// A forked child reads with its parent's keys, but seals with its own: otherwise parent and
  /// child would both use the seals that the parent has reserved.
  @inline(__always)
  var isOwn: Bool { forks.current == maker }

  /// Takes one of the reserved seals; false when none is left.
  @inline(__always)
  func takeSeal() -> Bool {
    // One reservation is enough for an algorithm without a limit: it tells the source to keep its
    // key.
    guard primary.algorithm.countsSeals else { return hasSeals }
    return isOwn && reserved.subtract(1, ordering: .relaxed).oldValue > 0
  }

  /// Whether reserved seals are left.
  var hasSeals: Bool { reserved.load(ordering: .relaxed) > 0 }

  /// Adds reserved seals.
  func addSeals(_ count: Int) {
    // Calls of `takeSeal` that returned false may have left the count below zero.
    var current = reserved.load(ordering: .relaxed)
    while true {
      let (done, original) = reserved.compareExchange(
        expected: current, desired: max(current, 0) + count, ordering: .relaxed)
      if done { return }
      current = original
    }
  }

  /// The mark that only holders of the current root key can put on a message; nil without a root
  /// key.
  func mark(_ message: RawSpan) throws(StorageError) -> NameHash? {
    guard let root else { return nil }
    // Not `??`, which throws untyped errors.
    let known = rootMarks.load()
    let marks = if let known { known } else { rootMarks.storeIfNil(try root.marks()) }
    return try cryptography { () throws(CryptoError) in try marks.hash(message) }
  }

  /// Derives a key for other uses from the name key, which a rotation of data keys does not change.
  func namedKey(_ name: String) throws(StorageError) -> SymmetricKey {
    let bytes = try cryptography(key: name) { () throws(CryptoError) in
      try KeyDerivation.hkdf(
        nameKey.bytes, salt: store.bytes, info: Label.namedKey + Array(name.utf8), count: 32)
    }
    return SymmetricKey(bytes: bytes)
  }
}
