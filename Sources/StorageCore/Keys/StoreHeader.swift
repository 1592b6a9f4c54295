internal import CryptoCore

/// What a store keeps beside its records: docs/file-format.md, section "Header".
struct StoreHeader: Hashable, Sendable {
  static let magic: [UInt8] = Array("SPSh".utf8)
  static let version: UInt8 = 1
  static let slotLimit = 32
  static let keysetLimit = 1 << 20

  let store: StoreID
  var slots: [Slot]
  /// Derived from the root key: tells whether a root key is this store's.
  var rootCheck: [UInt8]
  /// The keyset, sealed as a record under a key derived from the root key.
  var sealedKeyset: [UInt8]

  var bytes: [UInt8] {
    var bytes = Self.magic + [Self.version] + store.bytes
    bytes.append(UInt8(slots.count))
    for slot in slots { bytes.appendField(slot.bytes) }
    bytes += rootCheck
    bytes.appendField(sealedKeyset)
    return bytes
  }

  init(store: StoreID, slots: [Slot], rootCheck: [UInt8], sealedKeyset: [UInt8]) {
    self.store = store
    self.slots = slots
    self.rootCheck = rootCheck
    self.sealedKeyset = sealedKeyset
  }

  /// Reads a header, checking every number in it.
  init(reading array: [UInt8]) throws(StorageError) {
    let bytes = unsafe array.span.bytes
    var offset = 0
    guard try ByteReading.array(of: 4, bytes, at: &offset) == Self.magic else {
      throw StorageError(.damaged, "the store's header is not one; restore it from a backup")
    }
    let version = try ByteReading.integer(bytes, at: &offset, as: UInt8.self)
    guard version == Self.version else {
      throw StorageError(.unsupported, "store version \(version) is not of this release")
    }
    store = StoreID(try ByteReading.array(of: StoreID.byteCount, bytes, at: &offset))!
    let count = try ByteReading.integer(bytes, at: &offset, as: UInt8.self)
    guard (1...Self.slotLimit).contains(Int(count)) else {
      throw StorageError(.damaged, "a store has 1 to \(Self.slotLimit) key slots, not \(count)")
    }
    slots = []
    for _ in 0..<count {
      let slot = try ByteReading.field(limit: 4096, bytes, at: &offset)
      slots.append(try unsafe Slot(reading: slot.span.bytes))
    }
    guard Set(slots.map(\.id)).count == slots.count else {
      throw StorageError(.damaged, "two key slots have the same number")
    }
    rootCheck = try ByteReading.array(of: Slot.checkSize, bytes, at: &offset)
    sealedKeyset = try ByteReading.field(limit: Self.keysetLimit, bytes, at: &offset)
    guard offset == bytes.byteCount else {
      throw StorageError(.damaged, "the store's header is longer than it says")
    }
  }

  /// A number above all others, or the lowest that is free: what a file says may be the highest.
  var freeSlotID: UInt32 {
    let taken = Set(slots.map(\.id))
    if let highest = taken.max(), highest < .max { return highest + 1 }
    return (1...UInt32.max).first { !taken.contains($0) } ?? 1
  }

  /// The slots that `candidate` may open.
  func slots(of candidate: KeySource.Candidate) -> [Slot] {
    slots.filter { $0.kind == candidate.kind && $0.identifier == candidate.identifier }
  }

  /// Unwraps the root key by the first listed source that has a slot and is there.
  ///
  /// - Parameters:
  ///   - source: the sources, in the order in which they are asked.
  ///   - location: where the store is, for an error.
  ///   - refused: knows the passphrase that was tried last, and need not be tried again.
  /// - Returns: the root key, which is this header's, and what opened it.
  /// - Throws: `wrongKey` when what a source gave opens none of its slots, `keyUnavailable` when
  ///   none gave anything, `damaged` when a slot leads to another root key, or why one could not be
  ///   asked.
  func unwrapRoot(
    by source: KeySource, of location: String?, refused: RefusedPassphrase? = nil
  ) throws(StorageError) -> Opening {
    var missing: KeySource.Candidate?
    for candidate in source.candidates {
      let slots = slots(of: candidate)
      // A source without a slot is not asked, and one that is absent moves on to the next.
      guard !slots.isEmpty else { continue }
      guard let material = try candidate.read() else {
        if missing == nil, candidate.path() != nil { missing = candidate }
        continue
      }
      let wasTried = try refused?.wasTried(material, on: slots) ?? false
      for slot in slots where !wasTried {
        guard let root = try slot.root(with: material, store: store) else { continue }
        guard try RootKey(root, store: store).isRoot(of: self) else {
          throw StorageError(.damaged, "a key slot holds the root key of another store")
        }
        let opening = Opening(root: root, slot: slot, opener: candidate, material: material)
        PassphraseFloor.report(opening, of: self.store, at: location)
        return opening
      }
      try refused?.remember(material, for: slots)
      throw StorageError.wrongKey(of: candidate, gave: material, opens: self, store: location)
    }
    if let missing { throw .keyFileGone(missing, opens: self, store: location) }
    throw .noSource(of: source, opens: self)
  }
}

/// How a store was opened.
struct Opening {
  let root: SymmetricKey
  let slot: Slot
  /// The source, and what it gave.
  let opener: KeySource.Candidate
  let material: KeyMaterial
}

/// The keys that are derived from a root key.
struct RootKey: Sendable {
  let key: SymmetricKey
  private let store: StoreID
  /// What the delegate calls the place: a whole store does not open in the place of another.
  let place: String

  init(_ key: SymmetricKey, store: StoreID, place: String = "") {
    self.key = key
    self.store = store
    self.place = place
  }

  /// The value by which a header says which root key is its own.
  func check() throws(StorageError) -> [UInt8] {
    try derive(Label.rootCheck).withBytes { $0.copied() }
  }

  /// Whether `header` is of this root key.
  func isRoot(of header: StoreHeader) throws(StorageError) -> Bool {
    guard header.store == store else { return false }
    let (ours, theirs) = (try check(), header.rootCheck)
    return unsafe ConstantTime.equal(ours.span.bytes, theirs.span.bytes)
  }

  /// Seals a keyset for the header.
  func seal(_ keyset: Keyset) throws(StorageError) -> [UInt8] {
    let plaintext = try keyset.bytes()
    let key = SymmetricKey(bytes: try derive(Label.keysetKey))
    return try cryptography { () throws(CryptoError) in
      // Sealed again at every reservation of seals, so with nonces that don't run out.
      let sealing = try DataKey(key, id: 0, algorithm: .xaes256GCM)
      return try plaintext.withBytes { (bytes) throws(CryptoError) in
        try sealing.seal(bytes, for: context)
      }
    }
  }

  /// Opens the keyset of a header.
  ///
  /// - Throws: `damaged` when it was altered.
  func openKeyset(of header: StoreHeader) throws(StorageError) -> Keyset {
    let key = SymmetricKey(bytes: try derive(Label.keysetKey))
    let opening = try cryptography { () throws(CryptoError) in
      try DataKey(key, id: 0, algorithm: .xaes256GCM)
    }
    var keyset = Result<Keyset, StorageError>.failure(
      StorageError(
        .damaged,
        "the store's keyset was altered, or is that of a store with another name; restore the "
          + "store from a backup, under the name that it had"))
    do throws(CryptoError) {
      try unsafe opening.withOpened(header.sealedKeyset.span.bytes, for: context) { bytes in
        keyset = Result { () throws(StorageError) in try Keyset(reading: bytes) }
      }
    } catch {
      return try keyset.get()
    }
    return try keyset.get()
  }

  private var context: RecordContext {
    RecordContext(
      store: store, name: .reserved, authenticationTag: Array(("keyset" + place).utf8))
  }

  private func derive(_ label: [UInt8]) throws(StorageError) -> SecureBytes {
    try cryptography { () throws(CryptoError) in
      try KeyDerivation.hkdf(key.bytes, salt: store.bytes, info: label, count: 32)
    }
  }
}
