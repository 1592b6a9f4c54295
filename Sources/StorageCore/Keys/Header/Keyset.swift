internal import CryptoCore

/// A store's keys: the data keys and the key that hashes names.
///
/// The primary data key seals records; all data keys that were not retired open records. See
/// docs/file-format.md, section "Keyset".
struct Keyset: Sendable {
  static let entryLimit = 1024
  /// A rotation leaves room for later data keys: when a key has sealed often enough, writing needs
  /// a new one.
  static let rotationLimit = 1000
  private static let entrySize = 4 + 1 + 8 + 32 + 1
  private static let version: UInt8 = 1

  /// Whether a rotation has begun to end a data key, or has ended it.
  enum State: UInt8, Sendable {
    /// The key opens records; the primary key also seals records.
    case open = 0
    /// The key opens records until a re-encryption has processed all records; then it is retired.
    case ending = 1
    /// The key is kept only to open records that are taken back on purpose. Such records may be out
    /// of sight.
    case retired = 2
  }

  struct Entry: Sendable {
    let id: UInt32
    let algorithm: AEADAlgorithm
    /// How many seals processes have reserved; never fewer than they have made.
    var reservedSeals: UInt64
    var key: SymmetricKey
    var state = State.open
  }

  var nameKey: SymmetricKey
  var entries: [Entry]
  var primaryID: UInt32
  var nextID: UInt32

  /// Makes a keyset with fresh keys.
  init(algorithm: AEADAlgorithm) throws(StorageError) {
    nameKey = try Self.freshKey()
    entries = [
      Entry(id: 1, algorithm: algorithm, reservedSeals: 0, key: try Self.freshKey())
    ]
    primaryID = 1
    nextID = 2
  }

  /// The index of the primary key in `entries`.
  var primaryIndex: Int { entries.firstIndex { $0.id == primaryID }! }

  /// Adds a fresh data key that seals from now on.
  ///
  /// - Throws: `full` when there are `limit` keys.
  mutating func addPrimary(
    algorithm: AEADAlgorithm? = nil, limit: Int = entryLimit
  ) throws(StorageError) {
    guard entries.count < limit, nextID < .max else {
      throw StorageError(
        .full,
        "the store keeps \(entries.count) data keys, and there is no room for another one; nothing was "
          + "changed. Call keyAdministration.reencrypt(), which finishes an interrupted rotation; verify "
          + "and repair a vault first. If the keys stay, values may need them that the place does not "
          + "list. When you know that it lists all values, call keyAdministration.dropRetiredKeys()"
      )
    }
    entries.append(
      Entry(
        id: nextID, algorithm: algorithm ?? entries[primaryIndex].algorithm, reservedSeals: 0,
        key: try Self.freshKey()))
    primaryID = nextID
    nextID += 1
  }

  /// Sets the state of all data keys except the primary one, unless they are retired already.
  mutating func endOthers(as state: State) {
    for index in entries.indices where entries[index].id != primaryID {
      if entries[index].state != .retired { entries[index].state = state }
    }
  }

  /// Sets the state of all data keys whose state is `old`.
  mutating func endOthers(as state: State, from old: State) {
    for index in entries.indices where entries[index].state == old { entries[index].state = state }
  }

  /// Derives the keys for the manifest of a store that keeps one.
  ///
  /// The key that hashes records follows from the name key, so that a new data key does not require
  /// hashing all records again. The key that seals the manifest follows from the primary data key,
  /// so that a leaked root key is useless for the manifest after that root key was replaced.
  func manifestKeys(store: StoreID) throws(StorageError) -> ManifestKeys {
    let primary = entries[primaryIndex].key
    return try cryptography { () throws(CryptoError) in
      ManifestKeys(
        records: try KeyedHash(Self.derive(nameKey, store, Label.manifestRecords)),
        removals: try KeyedHash(Self.derive(nameKey, store, Label.manifestRemovals)),
        manifest: try SealingKey(Self.derive(primary, store, Label.manifest)))
    }
  }

  private static func derive(
    _ key: SymmetricKey, _ store: StoreID, _ label: [UInt8]
  ) throws(CryptoError) -> SymmetricKey {
    SymmetricKey(
      bytes: try KeyDerivation.hkdf(key.bytes, salt: store.bytes, info: label, count: 32))
  }

  static func freshKey() throws(StorageError) -> SymmetricKey {
    try cryptography { () throws(CryptoError) in try SymmetricKey.random() }
  }
}

// MARK: - Bytes

extension Keyset {
  /// The keyset in secure memory.
  func bytes() throws(StorageError) -> SecureBytes {
    var head: [UInt8] = [Self.version]
    head.append(bigEndian: primaryID)
    head.append(bigEndian: nextID)
    head.append(bigEndian: UInt16(entries.count))
    return try cryptography { () throws(CryptoError) in
      try SecureBytes(count: head.count + 32 + entries.count * Self.entrySize) {
        (output) throws(CryptoError) in
        var offset = 0
        func append(_ bytes: RawSpan, to output: inout MutableRawSpan) {
          for index in 0..<bytes.byteCount {
            let byte = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            output.storeBytes(of: byte, toByteOffset: offset + index, as: UInt8.self)
          }
          offset += bytes.byteCount
        }
        append(unsafe head.span.bytes, to: &output)
        nameKey.withBytes { append($0, to: &output) }
        for entry in entries {
          var fields: [UInt8] = []
          fields.append(bigEndian: entry.id)
          fields.append(entry.algorithm.rawValue)
          fields.append(bigEndian: entry.reservedSeals)
          append(unsafe fields.span.bytes, to: &output)
          entry.key.withBytes { append($0, to: &output) }
          let state = [entry.state.rawValue]
          append(unsafe state.span.bytes, to: &output)
        }
      }
    }
  }

  /// Reads a keyset.
  ///
  /// Checks the bytes, although they were authenticated.
  init(reading bytes: RawSpan) throws(StorageError) {
    var offset = 0
    let version = try ByteReading.integer(bytes, at: &offset, as: UInt8.self)
    guard version == Self.version else {
      throw StorageError(
        .unsupported, "this release can't read keyset version \(version); update the program")
    }
    primaryID = try ByteReading.integer(bytes, at: &offset)
    nextID = try ByteReading.integer(bytes, at: &offset)
    let count = Int(try ByteReading.integer(bytes, at: &offset, as: UInt16.self))
    nameKey = try Self.key(bytes, at: &offset)
    entries = []
    for _ in 0..<count {
      let id: UInt32 = try ByteReading.integer(bytes, at: &offset)
      let code = try ByteReading.integer(bytes, at: &offset, as: UInt8.self)
      guard let algorithm = AEADAlgorithm(code: code) else {
        throw StorageError(
          .unsupported, "this release does not know algorithm \(code); update the program")
      }
      let seals: UInt64 = try ByteReading.integer(bytes, at: &offset)
      let key = try Self.key(bytes, at: &offset)
      let state = try Self.state(bytes, at: &offset)
      entries.append(
        Entry(id: id, algorithm: algorithm, reservedSeals: seals, key: key, state: state))
    }
    let (primaryID, nextID) = (primaryID, nextID)
    guard offset == bytes.byteCount, (1...Self.entryLimit).contains(count),
      entries.allSatisfy({ $0.id < nextID }), Set(entries.map(\.id)).count == entries.count,
      entries.contains(where: { $0.id == primaryID && $0.state == .open })
    else {
      throw StorageError(
        .damaged,
        "the keyset contradicts itself, so the store can't be opened; restore it from a backup")
    }
  }

  private static func state(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> State {
    let code = try ByteReading.integer(bytes, at: &offset, as: UInt8.self)
    guard let state = State(rawValue: code) else {
      throw StorageError(
        .unsupported, "this release does not know data key state \(code); update the program")
    }
    return state
  }

  private static func key(
    _ bytes: RawSpan, at offset: inout Int
  ) throws(StorageError) -> SymmetricKey {
    let range = try ByteReading.range(of: 32, bytes, at: &offset)
    return SymmetricKey(
      bytes: try cryptography { () throws(CryptoError) in
        try SecureBytes(copying: bytes.extracting(range))
      })
  }
}
