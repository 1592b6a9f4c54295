internal import CryptoCore

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
