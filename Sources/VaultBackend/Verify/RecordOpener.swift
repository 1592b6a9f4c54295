internal import CryptoCore
internal import StorageCore

/// Opens the records of a vault by its header, even if the rest of its file is broken.
struct RecordOpener {
  let inspector: RecordInspector

  /// Opens the keys of a vault.
  ///
  /// Make it before keeping other writers away: it asks the key source, which may be slow, and
  /// waits for the lock of the store's keys, whose holder may wait for its turn to write.
  ///
  /// - Throws: `StorageError`: `damaged` when there is no header, or why its keys can't be opened.
  init(
    of store: SealedStore, in engine: VaultEngine, until end: ContinuousClock.Instant
  ) throws(StorageError) {
    do throws(StorageError) {
      if let inspector = try store.inspector() {
        self.inspector = inspector
        return
      }
    } catch {
      // Damaged rows may be the reason why the store can't be opened.
      guard error.code == .damaged else { throw error }
    }
    let connection = try Connection(engine.file.path, .readOnly, until: end)
    let header = try connection.reading { () throws(StorageError) in
      try VaultSalvage.header(of: connection)
    }
    let lone = SealedStore(
      LoneHeader(bytes: header, location: engine.file.path), source: store.keySource,
      algorithm: .aes256GCM, tag: store.authenticationTag)
    guard let inspector = try lone.inspector() else {
      throw StorageError(.io, "a header has no keys; this is a bug", path: engine.file.path)
    }
    self.inspector = inspector
  }

  /// Opens records by keys that are open already.
  init(_ inspector: RecordInspector) { self.inspector = inspector }

  /// The same with the keys of the header that a connection sees; asks no key source.
  ///
  /// - Throws: `StorageError`: `busy` when the root key was replaced since.
  func following(_ connection: Connection) throws(StorageError) -> RecordOpener {
    guard let inspector = try inspector.following(VaultSalvage.header(of: connection)) else {
      throw StorageError(
        .busy, "the vault's keys were replaced since it was verified; verify it again",
        path: connection.path)
    }
    return RecordOpener(inspector)
  }

  /// The header that a connection sees, and an opener for it.
  ///
  /// The data keys that a rotation was ending are retired in it.
  func retiringEndingKeys(
    in connection: Connection
  ) throws(StorageError) -> (header: [UInt8], opener: RecordOpener) {
    let header = try VaultSalvage.header(of: connection)
    guard let retiring = try inspector.retiringEndingKeys(of: header) else { return (header, self) }
    return (retiring.header, RecordOpener(retiring.inspector))
  }

  /// Whether a record is under a data key that was retired.
  func isSetAside(_ record: [UInt8]) -> Bool { inspector.isSetAside(record) }

  /// The keys of the manifest.
  var manifestKeys: ManifestKeys? { inspector.manifestKeys }

  /// How many records the manifest counts, or nil when it can't be read.
  func expectedCount(in connection: Connection) throws(StorageError) -> Int? {
    guard let manifestKeys else { return nil }
    return try Manifest.count(in: connection, manifestKeys)
  }

  /// The key name of a record, or nil when it does not open under a hash.
  func clearName(of record: [UInt8], under name: NameHash) throws(StorageError) -> String? {
    try inspector.clearName(of: record, under: name)
  }
}

/// A header without records, that does not change.
private struct LoneHeader: RecordPlace {
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

  func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    ChangeObservation {}  // it has no records
  }
}
