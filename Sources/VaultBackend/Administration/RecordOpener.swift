internal import CryptoCore
internal import StorageCore

/// What opens the records of a vault by its header alone, whatever the rest of its file is like.
struct RecordOpener {
  private let inspector: RecordInspector

  /// The source and the authentication tag of a store.
  ///
  /// To be asked for before other writers are kept away: one of them may hold the lock of the store's
  /// keys while it waits for its turn.
  struct Means {
    let source: KeySource
    let tag: [UInt8]

    init(of store: SealedStore) {
      source = store.keySource
      tag = store.authenticationTag
    }
  }

  /// Opens the keys of the header that a vault has.
  ///
  /// - Throws: `StorageError`: `damaged` when there is no header, or why its keys can't be opened.
  init(headerOf connection: Connection, _ means: Means) throws(StorageError) {
    try self.init(header: VaultSalvage.header(of: connection), means, path: connection.path)
  }

  /// Opens the keys of a header.
  ///
  /// - Throws: `StorageError`: why they can't be opened.
  init(header bytes: [UInt8], _ means: Means, path: String) throws(StorageError) {
    let store = SealedStore(
      LoneHeader(bytes: bytes, location: path), source: means.source, algorithm: .aes256GCM,
      tag: means.tag)
    guard let inspector = try store.inspector() else {
      throw StorageError(.io, "a header has no keys; this is a bug", path: path)
    }
    self.inspector = inspector
  }

  /// The keys of the manifest.
  var manifestKeys: ManifestKeys? { inspector.manifestKeys }

  /// How many records the manifest tells of, or nil when it can't be read.
  func expectedCount(in connection: Connection) throws(StorageError) -> Int? {
    guard let manifestKeys else { return nil }
    do throws(StorageError) {
      return try Manifest.count(in: connection, manifestKeys)
    } catch {
      guard error.code == .damaged else { throw error }
      return nil
    }
  }

  /// Whether a record opens under a name.
  func opens(_ record: [UInt8], under name: NameHash) throws(StorageError) -> Bool {
    try inspector.clearName(of: record, under: name) != nil
  }
}

/// A header without records, that does not change.
private struct LoneHeader: KeysetDelegate {
  private static let error = StorageError(.readOnly, "this is a header alone; this is a bug")

  let bytes: [UInt8]
  let location: String?

  func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) { (bytes, 1) }

  func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 { throw Self.error }

  func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) { (nil, 1) }

  func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome { throw Self.error }

  func names() throws(StorageError) -> [NameHash] { [] }
}
