internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// Where a large value is, and what opens it.
struct BlobEntry: Sendable, Equatable {
  /// How long an entry is, with its version and kind.
  static let byteCount = 143
  static let markSize = 32

  let algorithm: AEADAlgorithm
  /// The length of the value in bytes.
  let length: Int
  let id: BlobID
  let key: SymmetricKey
  let lastTag: [UInt8]
  /// The hash of the blob.
  let digest: [UInt8]
  /// What only holders of the index's root key can make.
  private(set) var mark: [UInt8]

  /// What its segments are bound to, in a store.
  func associatedData(in store: StoreID) -> [UInt8] {
    SegmentLayout.associatedData(store: store, blob: id)
  }
}

// MARK: - Marks

extension BlobEntry {
  /// The entry of a blob that was just sealed, with the mark of an index's current root key.
  ///
  /// - Throws: `StorageError`: `busy` when the index was emptied meanwhile.
  static func marked(
    algorithm: AEADAlgorithm, length: Int, id: BlobID, key: SymmetricKey, lastTag: [UInt8],
    digest: [UInt8], by index: SealedStore
  ) throws(StorageError) -> BlobEntry {
    var entry = BlobEntry(
      algorithm: algorithm, length: length, id: id, key: key, lastTag: lastTag, digest: digest,
      mark: [])
    entry.mark = try entry.mark(under: index.rootWatch().orEmptied())
    return entry
  }

  /// Whether the entry has the mark of an index's current root key: then only somebody who could
  /// open the index since its last rotation can have the blob's key.
  ///
  /// - Throws: `StorageError`: `busy` when the index was emptied meanwhile.
  func isMarked(by index: SealedStore) throws(StorageError) -> Bool {
    try isMarked(under: index.rootWatch().orEmptied())
  }

  /// The same for the root key that the index had at an earlier time.
  func isMarked(under root: RootWatch) throws(StorageError) -> Bool {
    let expected = try mark(under: root)
    return unsafe ConstantTime.equal(expected.span.bytes, mark.span.bytes)
  }

  private func mark(under root: RootWatch) throws(StorageError) -> [UInt8] {
    // The name is not marked: the index binds an entry to its name, and a name can change.
    var message = encoded(withMark: false)
    defer { Wipe.data(&message) }
    let hash = try root.mark(message.bytes).orEmptied()
    return Array(hash.bytes.prefix(Self.markSize))
  }
}

extension Optional {
  /// The wrapped value; `busy` if somebody has emptied the index.
  fileprivate func orEmptied() throws(StorageError) -> Wrapped {
    guard let self else {
      throw StorageError(.busy, "the index was emptied meanwhile; try again")
    }
    return self
  }
}

// MARK: - Bytes

extension BlobEntry {
  /// Reads the bytes after version and kind.
  init(reading bytes: RawSpan, at offset: inout Int) throws(StorageError) {
    let code = try ByteReading.integer(bytes, at: &offset, as: UInt8.self)
    guard let algorithm = AEADAlgorithm(code: code), algorithm != .xaes256GCM else {
      throw StorageError(
        .unsupported,
        "this release does not know algorithm \(code) of the entry; update the program")
    }
    let length = try ByteReading.integer(bytes, at: &offset, as: UInt64.self)
    let limits = UInt64(SegmentLayout.entryLimit + 1)...UInt64(SegmentLayout.valueLimit)
    guard limits.contains(length) else {
      throw StorageError(.damaged, "the entry has an impossible length")
    }
    let size = try ByteReading.integer(bytes, at: &offset, as: UInt32.self)
    guard size == SegmentLayout.segmentSize else {
      throw StorageError(
        .unsupported, "this release can't read segments of \(size) bytes; update the program")
    }
    self.algorithm = algorithm
    self.length = Int(length)
    id = BlobID(try ByteReading.array(of: BlobID.byteCount, bytes, at: &offset))!
    let range = try ByteReading.range(of: AEADAlgorithm.keySize, bytes, at: &offset)
    key = try cryptography { () throws(CryptoError) in
      SymmetricKey(bytes: try SecureBytes(copying: bytes.extracting(range)))
    }
    lastTag = try ByteReading.array(of: SegmentLayout.tagSize, bytes, at: &offset)
    digest = try ByteReading.array(of: StreamDigest.byteCount, bytes, at: &offset)
    mark = try ByteReading.array(of: Self.markSize, bytes, at: &offset)
  }

  /// The bytes for the index; the caller wipes them.
  func encoded(withMark: Bool = true) -> Data {
    var bytes = Data(capacity: Self.byteCount)
    bytes.append(contentsOf: [FileEntry.version, 1, algorithm.rawValue])
    bytes.append(contentsOf: SegmentLayout.bigEndian(UInt64(length)))
    bytes.append(contentsOf: SegmentLayout.bigEndian(UInt32(SegmentLayout.segmentSize)))
    bytes.append(contentsOf: id.bytes)
    key.withBytes { key in unsafe key.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) } }
    bytes.append(contentsOf: lastTag)
    bytes.append(contentsOf: digest)
    if withMark { bytes.append(contentsOf: mark) }
    return bytes
  }
}
