internal import StorageCore

/// Writes a flat property list: the dictionary, then its keys, then its values.
struct FlatPropertyListWriter {
  private var bytes: [UInt8] = []
  private var offsets: [Int] = []
  private let pairCount: Int

  /// Creates a writer of `pairCount` pairs, whose keys and values have at most `capacity` bytes.
  ///
  /// - Throws: `full` when the list would exceed the size limit.
  init(pairCount: Int, capacity: Int) throws(StorageError) {
    // Each pair takes at most 9 + 8 bytes of framing, two references and two offsets.
    let size = capacity + pairCount * (17 + 2 * 4 + 2 * 5) + 64
    guard size <= FlatPropertyList.sizeLimit else {
      throw StorageError(
        .full,
        "the suite would be larger than \(FlatPropertyList.sizeLimit >> 20) MiB; remove values first"
      )
    }
    self.pairCount = pairCount
    bytes.reserveCapacity(size)
    offsets.reserveCapacity(2 * pairCount + 1)
    bytes += FlatPropertyList.magic
    appendDictionary()
  }

  /// Appends a key.
  ///
  /// Append all keys first, then all values in the same order.
  mutating func append(key: some Collection<UInt8>) {
    appendHead(FlatPropertyList.Marker.string, count: key.count)
    bytes += key
  }

  /// Appends a value.
  mutating func append(value: [UInt8]) {
    appendHead(FlatPropertyList.Marker.data, count: value.count)
    bytes += value
  }

  /// Appends a name's 128 digits as a key.
  mutating func append(hexadecimal name: [UInt8]) {
    appendHead(FlatPropertyList.Marker.string, count: 2 * name.count)
    for byte in name {
      bytes.append(Self.digit(byte >> 4))
      bytes.append(Self.digit(byte & 15))
    }
  }

  /// Returns the complete list.
  ///
  /// Nothing may be appended afterwards.
  consuming func finish() -> [UInt8] {
    precondition(offsets.count == 2 * pairCount + 1, "a pair is missing")
    let table = bytes.count
    let offsetSize = Self.size(of: table)
    for offset in offsets { append(offset, size: offsetSize) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(Self.size(of: 2 * pairCount))]
    append(offsets.count, size: 8)
    append(0, size: 8)
    append(table, size: 8)
    return bytes
  }

  private mutating func appendDictionary() {
    appendHead(FlatPropertyList.Marker.dictionary, count: pairCount)
    let size = Self.size(of: 2 * pairCount)
    for reference in 1..<(2 * pairCount + 1) { append(reference, size: size) }
  }

  private mutating func appendHead(_ marker: UInt8, count: Int) {
    offsets.append(bytes.count)
    guard count >= 15 else { return bytes.append(marker | UInt8(count)) }
    bytes.append(marker | 15)
    let size = Self.size(of: count)
    bytes.append(FlatPropertyList.Marker.integer | UInt8(size.trailingZeroBitCount))
    append(count, size: size)
  }

  private mutating func append(_ value: Int, size: Int) {
    for index in (0..<size).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index)))
    }
  }

  /// The smallest of 1, 2, 4 and 8 bytes that holds `value`.
  private static func size(of value: Int) -> Int {
    value < 1 << 8 ? 1 : value < 1 << 16 ? 2 : value < 1 << 32 ? 4 : 8
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
  }
}
