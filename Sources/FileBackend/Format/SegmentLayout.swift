internal import CryptoCore

/// Where the segments of a blob lie; see docs/file-format.md.
enum SegmentLayout {
  static let segmentSize = 65_536
  static let tagSize = AEADAlgorithm.tagSize
  static let sealedSize = segmentSize + tagSize
  /// The longest value that is stored in the index itself.
  static let entryLimit = 16_384
  /// The longest possible value, 16 TiB.
  static let valueLimit = 1 << 44

  /// How many segments a value of a length has.
  static func count(ofLength length: Int) -> Int { (length + segmentSize - 1) / segmentSize }

  /// How long the file of a value of a length is.
  static func fileSize(ofLength length: Int) -> Int { length + tagSize * count(ofLength: length) }

  /// The associated data of a blob's segments, besides their number.
  static func associatedData(store: StoreID, blob: BlobID) -> [UInt8] {
    let label = Array("SPSseg".utf8)
    let size = bigEndian(UInt32(segmentSize))
    return [label, store.bytes, blob.bytes, size].flatMap { bigEndian(UInt32($0.count)) + $0 }
  }

  /// The bytes of an integer, most significant first.
  static func bigEndian<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
    unsafe withUnsafeBytes(of: value.bigEndian) { unsafe Array($0) }
  }
}
