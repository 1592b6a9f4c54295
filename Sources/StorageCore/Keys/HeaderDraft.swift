internal import CryptoCore

/// A store's header while it is changed, with the keyset open.
struct HeaderDraft {
  /// The header: its slots are to be changed here, its keyset below.
  var header: StoreHeader
  /// The keyset, which is sealed again only if it was changed.
  var keyset: Keyset { didSet { isSealed = false } }
  private(set) var root: RootKey
  private var isSealed = true

  /// A draft that says what `header` does.
  ///
  /// - Throws: `damaged` when the keyset does not open with the root key.
  init(_ header: StoreHeader, _ root: RootKey) throws(StorageError) {
    self.header = header
    self.root = root
    keyset = try root.openKeyset(of: header)
  }

  /// Takes another root key; slots have to be made for it.
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
