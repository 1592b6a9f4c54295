internal import CryptoCore
internal import StorageCore

internal import struct Foundation.Data

/// What the index has under a name: a small value, or where a large one is; see docs/file-format.md.
enum FileEntry: Sendable {
  /// A value of up to ``SegmentLayout/entryLimit`` bytes.
  ///
  /// The bytes are the owner's to wipe.
  case small(Data)
  case blob(BlobEntry)

  private static let version: UInt8 = 1

  /// The length of the value in bytes.
  var length: Int {
    switch self {
    case .small(let value): value.count
    case .blob(let blob): blob.length
    }
  }

  /// The blob, where there is one.
  var blob: BlobEntry? {
    if case .blob(let blob) = self { blob } else { nil }
  }

  /// Reads what the index holds.
  ///
  /// - Throws: `StorageError`: `unsupported` or `damaged`, as the format says.
  init(reading bytes: RawSpan) throws(StorageError) {
    var offset = 0
    let version = try ByteReading.integer(bytes, at: &offset, as: UInt8.self)
    guard version == Self.version else {
      throw StorageError(
        .unsupported, "this release can't read entry version \(version); update the program")
    }
    switch try ByteReading.integer(bytes, at: &offset, as: UInt8.self) {
    case 0:
      let count = bytes.byteCount - offset
      guard count <= SegmentLayout.entryLimit else {
        throw StorageError(.damaged, "a value in the index is longer than allowed")
      }
      let value = bytes.extracting(offset..<bytes.byteCount)
      self = .small(unsafe value.withUnsafeBytes { unsafe Data($0) })
    case 1:
      self = .blob(try BlobEntry(reading: bytes, at: &offset))
      guard offset == bytes.byteCount else {
        throw StorageError(.damaged, "the entry has bytes after its end")
      }
    case let kind:
      throw StorageError(
        .unsupported, "this release does not know entry kind \(kind); update the program")
    }
  }

  /// The bytes for the index, which are the caller's to wipe.
  func encoded() -> Data {
    switch self {
    case .small(let value):
      var bytes = Data(capacity: 2 + value.count)
      bytes.append(contentsOf: [Self.version, 0])
      bytes.append(value)
      return bytes
    case .blob(let blob):
      var bytes = Data(capacity: BlobEntry.byteCount)
      bytes.append(contentsOf: [Self.version, 1])
      blob.append(to: &bytes)
      return bytes
    }
  }
}

/// Where a large value is, and what opens it.
struct BlobEntry: Sendable, Equatable {
  /// How long an entry is, with its version and kind.
  static let byteCount = 83

  let algorithm: AEADAlgorithm
  /// The length of the value in bytes.
  let length: Int
  let id: BlobID
  let key: SymmetricKey
  let lastTag: [UInt8]
  /// The index's primary data key when the blob was begun.
  let keyID: UInt32

  /// What its segments are bound to, in a store.
  func associatedData(in store: StoreID) -> [UInt8] {
    SegmentLayout.associatedData(store: store, blob: id)
  }
}

extension BlobEntry {
  fileprivate init(reading bytes: RawSpan, at offset: inout Int) throws(StorageError) {
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
    keyID = try ByteReading.integer(bytes, at: &offset)
  }

  fileprivate func append(to bytes: inout Data) {
    bytes.append(algorithm.rawValue)
    bytes.append(contentsOf: SegmentLayout.bigEndian(UInt64(length)))
    bytes.append(contentsOf: SegmentLayout.bigEndian(UInt32(SegmentLayout.segmentSize)))
    bytes.append(contentsOf: id.bytes)
    key.withBytes { key in unsafe key.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) } }
    bytes.append(contentsOf: lastTag)
    bytes.append(contentsOf: SegmentLayout.bigEndian(keyID))
  }
}
