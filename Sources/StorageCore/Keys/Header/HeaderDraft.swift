internal import CryptoCore

/// A store's header while it is being changed, together with the opened keyset.
struct HeaderDraft {
  /// The header; change its slots here, and its keyset in `keyset`.
  var header: StoreHeader
  /// The keyset; it is sealed again only if it was changed.
  var keyset: Keyset { didSet { isSealed = false } }
  private(set) var root: RootKey
  private var isSealed = true

  /// Makes a draft with the content of `header`.
  ///
  /// - Throws: `damaged` when the keyset does not open with the root key.
  init(_ header: StoreHeader, _ root: RootKey) throws(StorageError) {
    self.header = header
    self.root = root
    keyset = try root.openKeyset(of: header)
  }

  /// Replaces the root key; the caller has to make new slots for it.
  mutating func replaceRoot(by key: SymmetricKey) throws(StorageError) {
    root = RootKey(key, store: header.store, place: root.place)
    header.rootCheck = try root.check()
    isSealed = false
  }

  /// The bytes of the finished header.
  mutating func finish() throws(StorageError) -> [UInt8] {
    if !isSealed { header.sealedKeyset = try root.seal(keyset) }
    isSealed = true
    return header.bytes
  }
}
