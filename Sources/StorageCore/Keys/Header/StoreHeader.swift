internal import CryptoCore

/// The header of a store, with its slots and its sealed keys: docs/file-format.md, section "Header".
struct StoreHeader: Hashable, Sendable {
  static let magic: [UInt8] = Array("SPSh".utf8)
  static let version: UInt8 = 1
  static let slotLimit = 32
  static let keysetLimit = 1 << 20

  let store: StoreID
  var slots: [Slot]
  /// A value derived from the root key; it tells whether a root key belongs to this store.
  var rootCheck: [UInt8]
  /// The keyset, sealed as a record with a key derived from the root key.
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

  /// Reads a header and checks every number in it.
  init(reading array: [UInt8]) throws(StorageError) {
    let bytes = unsafe array.span.bytes
    var offset = 0
    guard try ByteReading.array(of: 4, bytes, at: &offset) == Self.magic else {
      throw StorageError(
        .damaged, "the store's header does not begin as a header does; restore it from a backup")
    }
    let version = try ByteReading.integer(bytes, at: &offset, as: UInt8.self)
    guard version == Self.version else {
      throw StorageError(
        .unsupported, "this release can't read store version \(version); update the program")
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
      throw StorageError(.damaged, "the store's header has bytes after its end")
    }
  }

  /// A slot number above all others, or the lowest free one if a slot has the highest possible number.
  var freeSlotID: UInt32 {
    let taken = Set(slots.map(\.id))
    if let highest = taken.max(), highest < .max { return highest + 1 }
    return (1...UInt32.max).first { !taken.contains($0) } ?? 1
  }

  /// The slots recorded for the source `candidate`.
  func slots(of candidate: KeySource.Candidate) -> [Slot] {
    slots.filter { $0.kind == candidate.kind && $0.identifier == candidate.identifier }
  }

  /// Unwraps the root key with the first listed source that has a slot and is not absent.
  ///
  /// - Parameters:
  ///   - source: the sources, in the order in which they are asked.
  ///   - location: the path of the store, for errors.
  ///   - refused: remembers the passphrase that was tried last, so that it is not tried again.
  /// - Returns: the root key of this header, and the slot, source and material that opened it.
  /// - Throws: `wrongKey` when the key or passphrase of a source opens none of the source's slots;
  ///   `keyUnavailable` when all sources are absent; `damaged` when a slot holds another root key; or the
  ///   error of a source.
  func unwrapRoot(
    by source: KeySource, of location: String?, refused: RefusedPassphrase? = nil
  ) throws(StorageError) -> Opening {
    var missing: KeySource.Candidate?
    let candidates = source.candidates
    for (index, candidate) in candidates.enumerated() {
      let slots = slots(of: candidate)
      // A source without a slot is not asked, and an absent source is skipped.
      guard !slots.isEmpty else { continue }
      guard let material = try candidate.read() else {
        if missing == nil, candidate.path() != nil { missing = candidate }
        continue
      }
      let wasTried = try refused?.wasTried(material, on: slots) ?? false
      for slot in slots where !wasTried {
        guard let root = try slot.root(with: material, store: store) else { continue }
        guard try RootKey(root, store: store).isRoot(of: self) else {
          throw StorageError(
            .damaged, "a key slot holds the root key of another store; restore it from a backup")
        }
        let opening = Opening(root: root, slot: slot, opener: candidate, material: material)
        PassphraseFloor.report(opening, of: self.store, at: location)
        return opening
      }
      try refused?.remember(material, for: slots)
      // While keys are replaced, a program lists the new one and the old one.
      let hasAnother = candidates[(index + 1)...].contains {
        $0.kind == candidate.kind && $0.identifier == candidate.identifier
      }
      if hasAnother { continue }
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
  /// The source, and below its key or passphrase.
  let opener: KeySource.Candidate
  let material: KeyMaterial
}

/// The keys that are derived from a root key.
struct RootKey: Sendable {
  let key: SymmetricKey
  private let store: StoreID
  /// The delegate's name of the place; a store that was moved to another place does not open there.
  let place: String

  init(_ key: SymmetricKey, store: StoreID, place: String = "") {
    self.key = key
    self.store = store
    self.place = place
  }

  /// The check value with which a header identifies its root key.
  func check() throws(StorageError) -> [UInt8] {
    try derive(Label.rootCheck).withBytes { $0.copied() }
  }

  /// The hash whose values only holders of this root key can compute.
  func marks() throws(StorageError) -> KeyedHash {
    let key = SymmetricKey(bytes: try derive(Label.rootMarks))
    return try cryptography { () throws(CryptoError) in try KeyedHash(key) }
  }

  /// Whether `header` belongs to this root key.
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
      // Sealed again at every reservation of seals, so the nonces must not run out.
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
        "the store's keyset was altered, or belongs to a store with another name; restore the "
          + "store from a backup, under its original name"))
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
