internal import CryptoCore

/// A store's keys: data keys, of which one seals and all open, and the key that hashes names.
///
/// docs/file-format.md, section "Keyset".
struct Keyset: Sendable {
  static let version: UInt8 = 1
  static let entrySize = 4 + 1 + 8 + 32
  static let entryLimit = 1024

  struct Entry: Sendable {
    let id: UInt32
    let algorithm: AEADAlgorithm
    /// Seals that processes have set aside; never fewer than were made.
    var reservedSeals: UInt64
    let key: SymmetricKey
  }

  var nameKey: SymmetricKey
  var entries: [Entry]
  var primaryID: UInt32
  var nextID: UInt32

  /// A keyset with fresh keys.
  init(algorithm: AEADAlgorithm) throws(StorageError) {
    nameKey = try Self.freshKey()
    entries = [
      Entry(id: 1, algorithm: algorithm, reservedSeals: 0, key: try Self.freshKey())
    ]
    primaryID = 1
    nextID = 2
  }

  /// Where the primary key is among `entries`.
  var primaryIndex: Int { entries.firstIndex { $0.id == primaryID }! }

  /// Adds a fresh data key that seals from now on.
  mutating func addPrimary(algorithm: AEADAlgorithm? = nil) throws(StorageError) {
    guard entries.count < Self.entryLimit, nextID < .max else {
      throw StorageError(.full, "the store holds \(Self.entryLimit) data keys; re-encrypt it first")
    }
    entries.append(
      Entry(
        id: nextID, algorithm: algorithm ?? entries[primaryIndex].algorithm, reservedSeals: 0,
        key: try Self.freshKey()))
    primaryID = nextID
    nextID += 1
  }

  /// The keys that go with these for the manifest of a store that keeps one.
  ///
  /// Records are hashed under a key that lasts as long as the name key, so that a new data key costs
  /// no pass over all of them. What authenticates their sum follows the primary data key: after a
  /// root key has leaked and was replaced, the old one is of no use for that.
  func manifestKeys(store: StoreID) throws(StorageError) -> ManifestKeys {
    let primary = entries[primaryIndex].key
    return try cryptography { () throws(CryptoError) in
      ManifestKeys(
        records: try KeyedHash(Self.derive(nameKey, store, Label.manifestRecords)),
        manifest: try AuthenticationKey(Self.derive(primary, store, Label.manifest)))
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
        }
      }
    }
  }

  /// Reads a keyset.
  ///
  /// The bytes were authenticated; they are checked all the same.
  init(reading bytes: RawSpan) throws(StorageError) {
    var offset = 0
    let version = try ByteReading.integer(bytes, at: &offset, as: UInt8.self)
    guard version == Self.version else {
      throw StorageError(.unsupported, "keyset version \(version) is not of this release")
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
        throw StorageError(.unsupported, "algorithm \(code) is not of this release")
      }
      let seals: UInt64 = try ByteReading.integer(bytes, at: &offset)
      entries.append(
        Entry(
          id: id, algorithm: algorithm, reservedSeals: seals,
          key: try Self.key(bytes, at: &offset)))
    }
    let (primaryID, nextID) = (primaryID, nextID)
    guard offset == bytes.byteCount, (1...Self.entryLimit).contains(count),
      entries.allSatisfy({ $0.id < nextID }), Set(entries.map(\.id)).count == entries.count,
      entries.contains(where: { $0.id == primaryID })
    else { throw StorageError(.damaged, "the keyset contradicts itself") }
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
