internal import CryptoCore
internal import Synchronization

/// The keys of an open store, ready to use.
///
/// Immutable but for the count of seals.
final class OpenKeys: Sendable {
  let store: StoreID
  /// Nil for a store without a header, whose keys are derived from the application's.
  let root: RootKey?
  let names: KeyedHash
  /// Stands for the pair of store and name key: while it is the same, a name's hash is.
  let nameSpace: NameSpace
  let primary: DataKey
  private let others: [UInt32: DataKey]
  /// Keys that a rotation has retired: they open what is taken back on purpose, and nothing else.
  private let retired: [UInt32: DataKey]
  /// What the data keys were made of: after a backup was put back, an id can stand for another key.
  private let entries: [UInt32: Keyset.Entry]
  private let nameKey: SymmetricKey
  /// The keys of the manifest; nil for a store without a header.
  let manifest: ManifestKeys?
  /// Told each name that is hashed, where the delegate keeps names in the clear.
  let clear: ClearRecords?
  /// The version of the header that these keys are of.
  ///
  /// Moves on when the header changes and the keys don't.
  var headerVersion: UInt64 {
    get { atomicVersion.load(ordering: .relaxed) }
    set { atomicVersion.store(newValue, ordering: .relaxed) }
  }
  private let atomicVersion = Atomic<UInt64>(0)
  /// How many more seals of the primary key are set aside for the process that made this.
  private let reserved: Atomic<Int>
  private let forks = ForkCount.shared
  private let maker: Int

  /// An identity.
  final class NameSpace: Sendable {
    let store: StoreID
    let key: SymmetricKey

    init(store: StoreID, key: SymmetricKey) {
      self.store = store
      self.key = key
    }
  }

  /// The keys of a keyset.
  ///
  /// The hash that `previous` has made already is shared.
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
    var retired: [UInt32: DataKey] = [:]
    var entries: [UInt32: Keyset.Entry] = [:]
    for entry in keyset.entries {
      entries[entry.id] = entry
      let key = try cryptography { () throws(CryptoError) in
        try DataKey(entry.key, id: entry.id, algorithm: entry.algorithm)
      }
      if entry.state == .retired { retired[entry.id] = key } else { keys[entry.id] = key }
    }
    primary = keys[keyset.primaryID]!
    others = keys
    self.retired = retired
    self.entries = entries
    reserved = Atomic(0)
    maker = forks.current
  }

  /// The keys that follow from `key` alone, for a delegate that can't hold a header.
  ///
  /// They seal with XAES-256-GCM, since nobody counts their seals.
  init(directly key: SymmetricKey, clear: ClearRecords? = nil) throws(StorageError) {
    guard key.bitCount == 256 else {
      throw StorageError(.invalid, "a store's key has 256 bits, this one \(key.bitCount)")
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
    retired = [:]
    entries = [:]
    reserved = Atomic(0)
    maker = forks.current
  }

  /// Whether these are the keys of `keyset`, whatever it says of reserved seals.
  func isOpen(_ keyset: Keyset) -> Bool {
    keyset.nameKey == nameKey && keyset.primaryID == primary.id
      && keyset.entries.count == entries.count
      && keyset.entries.allSatisfy {
        entries[$0.id]?.key == $0.key && entries[$0.id]?.state == $0.state
      }
  }

  /// Whether a record that names a data key may open by these.
  func holds(_ id: UInt32) -> Bool { id == primary.id || others[id] != nil }

  /// Whether a record that names a data key was set aside by a rotation.
  func isRetired(_ id: UInt32) -> Bool { retired[id] != nil }

  /// The ids of the data keys that a re-encryption is to retire.
  var ending: Set<UInt32> { Set(entries.values.filter { $0.state == .ending }.map(\.id)) }

  /// Opens a record by the key that it names and lends the plaintext, which is wiped afterwards.
  func withOpened(
    _ record: RawSpan, for context: RecordContext, _ body: (RawSpan) -> Void
  ) throws(CryptoError) {
    let id = try RecordHeader(reading: record).keyID
    guard id == primary.id else { return try withOther(id, record, for: context, body) }
    try primary.withOpened(record, for: context, body)
  }

  // Apart, so that the usual case counts no reference to the primary key.
  @inline(never)
  private func withOther(
    _ id: UInt32, _ record: RawSpan, for context: RecordContext, _ body: (RawSpan) -> Void
  ) throws(CryptoError) {
    guard let key = others[id] else {
      let what =
        retired[id] == nil
        ? "the record names data key \(id), which the store does not hold"
        : "the record is sealed under data key \(id), which a rotation has retired; if it is known who "
          + "wrote it, reencrypt(readmitting: true) takes it back"
      throw CryptoError(.malformed, what)
    }
    try key.withOpened(record, for: context, body)
  }

  /// The same, also by a key that was retired: whoever calls it wants the record back.
  func withReadmitted(
    _ record: RawSpan, for context: RecordContext, _ body: (RawSpan) -> Void
  ) throws(CryptoError) {
    guard let key = retired[try RecordHeader(reading: record).keyID] else {
      return try withOpened(record, for: context, body)
    }
    try key.withOpened(record, for: context, body)
  }

  /// Whether this process made these keys.
  ///
  /// A forked child reads with those of its parent. It seals with keys of its own, or it would use
  /// the seals that the parent set aside a second time.
  @inline(__always)
  var isOwn: Bool { forks.current == maker }

  /// Takes one seal out of those set aside; false when none is left.
  @inline(__always)
  func takeSeal() -> Bool {
    // Once: whoever seals says so first.
    guard primary.algorithm.countsSeals else { return hasSeals }
    return isOwn && reserved.subtract(1, ordering: .relaxed).oldValue > 0
  }

  /// Whether some are left of the seals set aside.
  var hasSeals: Bool { reserved.load(ordering: .relaxed) > 0 }

  /// Adds to the seals set aside.
  func addSeals(_ count: Int) {
    // A run of refused takes may have left it below zero.
    var current = reserved.load(ordering: .relaxed)
    while true {
      let (done, original) = reserved.compareExchange(
        expected: current, desired: max(current, 0) + count, ordering: .relaxed)
      if done { return }
      current = original
    }
  }

  /// A key for other uses, from the name key, which no rotation of data keys changes.
  func namedKey(_ name: String) throws(StorageError) -> SymmetricKey {
    let bytes = try cryptography(key: name) { () throws(CryptoError) in
      try KeyDerivation.hkdf(
        nameKey.bytes, salt: store.bytes, info: Label.namedKey + Array(name.utf8), count: 32)
    }
    return SymmetricKey(bytes: bytes)
  }
}
