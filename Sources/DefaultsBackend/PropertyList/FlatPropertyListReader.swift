internal import CryptoCore
internal import StorageCore

/// Reads a flat property list, strictly.
///
/// The objects must lie back to back in the order of their table, and each must be used exactly
/// once. Nothing can therefore overlap or be hidden between objects, time and memory are linear in
/// the size, and there is no recursion. Every other property list is refused.
struct FlatPropertyListReader {
  private struct Object {
    let kind: UInt8
    /// The offset at which the content begins.
    let start: Int
    /// The number of bytes, or of pairs in a dictionary.
    let count: Int
    var isUsed = false
  }

  private struct Trailer {
    let offsetSize: Int
    let referenceSize: Int
    let objectCount: Int
    let top: Int
    let table: Int
  }

  private let bytes: [UInt8]
  private let trailer: Trailer
  private var objects: [Object] = []

  /// The number of pairs of a key and a value.
  var pairCount: Int { (objects.count - 1) / 2 }

  /// Checks the structure of the list; allocates nothing for objects that `bytes` only claims to
  /// hold.
  ///
  /// All keys except one must have at least `shortestKey` bytes; the default is the digits of a
  /// name.
  init(
    _ bytes: [UInt8], shortestKey: Int = 2 * NameHash.byteCount
  ) throws(StorageError) {
    self.bytes = bytes
    trailer = try Self.trailer(of: bytes, shortestKey)
    try checkTop()
    try readObjects()
  }

  private static func trailer(
    of bytes: [UInt8], _ shortestKey: Int
  ) throws(StorageError) -> Trailer {
    let start = bytes.count - FlatPropertyList.trailerSize
    guard start >= FlatPropertyList.magic.count, bytes.starts(with: FlatPropertyList.magic),
      // The sixth byte says how strings are sorted; it is not needed and always zero.
      bytes[start..<start + 6].allSatisfy({ $0 == 0 })
    else { throw damaged }
    let trailer = Trailer(
      offsetSize: Int(bytes[start + 6]), referenceSize: Int(bytes[start + 7]),
      objectCount: try integer(bytes, at: start + 8, size: 8),
      top: try integer(bytes, at: start + 16, size: 8),
      table: try integer(bytes, at: start + 24, size: 8))
    guard (1...8).contains(trailer.offsetSize), (1...8).contains(trailer.referenceSize),
      // Each object takes at least one byte, so that no product below overflows.
      (1...bytes.count).contains(trailer.objectCount), trailer.top < trailer.objectCount,
      // Keeps the memory for the objects, more than a byte each, in proportion to the file's size.
      trailer.objectCount - 1 <= 2 * (bytes.count / shortestKey + 1),
      trailer.table <= start,
      start - trailer.table == trailer.objectCount * trailer.offsetSize
    else { throw damaged }
    return trailer
  }

  /// Checks that the top object is a dictionary that refers to every other object once.
  private func checkTop() throws(StorageError) {
    let entry = trailer.table + trailer.top * trailer.offsetSize
    var position = try Self.integer(bytes, at: entry, size: trailer.offsetSize)
    guard position >= FlatPropertyList.magic.count else { throw Self.damaged }
    let top = try object(at: &position)
    guard top.kind == FlatPropertyList.Marker.dictionary,
      // Each object is used once and none is left over, so there is no room for a second
      // dictionary.
      trailer.objectCount - 1 == 2 * top.count
    else { throw Self.damaged }
  }

  private mutating func readObjects() throws(StorageError) {
    objects.reserveCapacity(trailer.objectCount)
    var position = FlatPropertyList.magic.count
    for index in 0..<trailer.objectCount {
      let entry = trailer.table + index * trailer.offsetSize
      guard try Self.integer(bytes, at: entry, size: trailer.offsetSize) == position else {
        throw Self.damaged
      }
      objects.append(try object(at: &position))
    }
    guard position == trailer.table else { throw Self.damaged }
  }

  /// Reads the object at `position`, and moves `position` past it.
  private func object(at position: inout Int) throws(StorageError) -> Object {
    guard position < trailer.table else { throw Self.damaged }
    let kind = bytes[position] & 0xF0
    var count = Int(bytes[position] & 0x0F)
    position += 1
    if count == 15 { count = try longCount(at: &position) }
    let unit: Int
    switch kind {
    case FlatPropertyList.Marker.data, FlatPropertyList.Marker.string: unit = 1
    case FlatPropertyList.Marker.dictionary: unit = 2 * trailer.referenceSize
    default: throw Self.damaged
    }
    guard count <= (trailer.table - position) / unit else { throw Self.damaged }
    defer { position += count * unit }
    return Object(kind: kind, start: position, count: count)
  }

  private func longCount(at position: inout Int) throws(StorageError) -> Int {
    guard position < trailer.table else { throw Self.damaged }
    let marker = bytes[position]
    guard (FlatPropertyList.Marker.integer...FlatPropertyList.Marker.integer + 3).contains(marker)
    else { throw Self.damaged }
    let size = 1 << Int(marker & 0x0F)
    position += 1
    guard size <= trailer.table - position else { throw Self.damaged }
    defer { position += size }
    return try Self.integer(bytes, at: position, size: size)
  }

  /// Calls `body` with each key and its value.
  ///
  /// A key may occur twice; `body` must refuse that.
  mutating func forEachPair(
    _ body: (_ key: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) throws(StorageError) -> Void
  ) throws(StorageError) {
    let top = objects[trailer.top]
    for pair in 0..<top.count {
      let key = top.start + pair * trailer.referenceSize
      let value = key + top.count * trailer.referenceSize
      try body(
        content(referredToAt: key, kind: FlatPropertyList.Marker.string),
        content(referredToAt: value, kind: FlatPropertyList.Marker.data))
    }
  }

  private mutating func content(
    referredToAt offset: Int, kind: UInt8
  ) throws(StorageError) -> ArraySlice<UInt8> {
    let index = try Self.integer(bytes, at: offset, size: trailer.referenceSize)
    guard index < objects.count else { throw Self.damaged }
    let object = objects[index]
    guard object.kind == kind, !object.isUsed else { throw Self.damaged }
    objects[index].isUsed = true
    return bytes[object.start..<object.start + object.count]
  }

  /// Reads a big-endian integer.
  ///
  /// The caller has checked that it lies within the bytes.
  private static func integer(
    _ bytes: [UInt8], at offset: Int, size: Int
  ) throws(StorageError) -> Int {
    var word: UInt64 = 0
    for index in offset..<offset + size { word = word << 8 | UInt64(bytes[index]) }
    guard let value = Int(exactly: word) else { throw damaged }
    return value
  }

  static var damaged: StorageError {
    StorageError(
      .damaged,
      "the file is not a property list of sealed values: it was cut, altered, or written by another "
        + "program. It was not changed; restore it from a backup, or move it away to start anew")
  }
}
