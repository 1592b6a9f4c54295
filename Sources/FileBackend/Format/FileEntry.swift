internal import StorageCore

internal import struct FoundationEssentials.Data

/// An entry of the index: a small value, or the place of a large one; see docs/file-format.md.
enum FileEntry: Sendable {
  /// A value of up to ``SegmentLayout/entryLimit`` bytes.
  ///
  /// The owner wipes the bytes.
  case small(Data)
  case blob(BlobEntry)

  /// The version of the format.
  static let version: UInt8 = 1

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

  /// Reads an entry of the index.
  ///
  /// - Throws: `StorageError`: `unsupported` or `damaged`, as the format says.
  init(reading bytes: RawSpan) throws(StorageError) {
    var offset = 0
    let number = try ByteReading.integer(bytes, at: &offset, as: UInt8.self)
    let kind = try ByteReading.integer(bytes, at: &offset, as: UInt8.self)
    switch (number, kind) {
    case (Self.version, 0):
      let count = bytes.byteCount - offset
      guard count <= SegmentLayout.entryLimit else {
        throw StorageError(.damaged, "a value in the index is longer than allowed")
      }
      let value = bytes.extracting(offset..<bytes.byteCount)
      self = .small(unsafe value.withUnsafeBytes { unsafe Data($0) })
    case (Self.version, 1):
      self = .blob(try BlobEntry(reading: bytes, at: &offset))
      guard offset == bytes.byteCount else {
        throw StorageError(.damaged, "the entry has bytes after its end")
      }
    default:
      throw StorageError(
        .unsupported,
        "this release can't read entry kind \(kind) of version \(number); read the value with the "
          + "program that wrote it")
    }
  }

  /// The bytes for the index; the caller wipes them.
  func encoded() -> Data {
    switch self {
    case .small(let value):
      var bytes = Data(capacity: 2 + value.count)
      bytes.append(contentsOf: [Self.version, 0])
      bytes.append(value)
      return bytes
    case .blob(let blob): return blob.encoded()
    }
  }
}
