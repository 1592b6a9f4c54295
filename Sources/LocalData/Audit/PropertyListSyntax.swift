internal import FoundationEssentials
internal import StorageCore

/// Checks that bytes are a binary property list of version 00.
///
/// Foundation's decoder is not given bytes of others: it never returns from a list that contains
/// itself.
struct PropertyListSyntax {
  /// How deep arrays and dictionaries may nest, as in JSON.
  private static let depthLimit = 512
  private static let header = Array("bplist00".utf8)
  private static let trailerSize = 32

  /// Where the table of the objects' offsets is, which ends the objects.
  private let table: Int
  private let offsetSize: Int
  private let referenceSize: Int
  private let top: Int
  private var objects: [Object]

  private enum Object { case unseen, open, sound }

  /// Whether the bytes are one property list.
  static func isValue(_ data: Data) -> Bool {
    let bytes = unsafe data.span.bytes
    guard var syntax = PropertyListSyntax(bytes) else { return false }
    return syntax.takeObject(syntax.top, bytes, depth: 0)
  }

  private init?(_ bytes: RawSpan) {
    let trailer = bytes.byteCount - Self.trailerSize
    guard trailer >= Self.header.count,
      bytes.extracting(..<Self.header.count).copied() == Self.header,
      let offsetSize = Self.number(bytes, at: trailer + 6, size: 1), (1...8).contains(offsetSize),
      let referenceSize = Self.number(bytes, at: trailer + 7, size: 1),
      (1...8).contains(referenceSize),
      let count = Self.number(bytes, at: trailer + 8, size: 8),
      let top = Self.number(bytes, at: trailer + 16, size: 8), top < count,
      let table = Self.number(bytes, at: trailer + 24, size: 8),
      table >= Self.header.count, table <= trailer, count <= (trailer - table) / offsetSize,
      Self.canHold(table, size: offsetSize), Self.canHold(count, size: referenceSize)
    else { return nil }
    self.table = table
    self.offsetSize = offsetSize
    self.referenceSize = referenceSize
    self.top = top
    objects = Array(repeating: .unseen, count: count)
  }

  /// Takes an object with all that it contains; each object once, however often it is referred to.
  private mutating func takeObject(_ object: Int, _ bytes: RawSpan, depth: Int) -> Bool {
    guard depth <= Self.depthLimit, object < objects.count else { return false }
    switch objects[object] {
    case .sound: return true
    case .open: return false
    case .unseen: objects[object] = .open
    }
    guard var offset = Self.number(bytes, at: table + object * offsetSize, size: offsetSize),
      let marker = take(bytes, &offset, 1), takeContent(marker, bytes, offset, depth)
    else { return false }
    objects[object] = .sound
    return true
  }

  private mutating func takeContent(
    _ marker: Int, _ bytes: RawSpan, _ offset: Int, _ depth: Int
  ) -> Bool {
    let low = marker & 0x0F
    switch marker >> 4 {
    case 0x0: return low == 8 || low == 9
    case 0x1: return low <= 4 && fits(1 << low, at: offset)
    case 0x2: return (low == 2 || low == 3) && fits(1 << low, at: offset)
    case 0x3: return low == 3 && fits(8, at: offset)
    // The number of an object in a keyed archive.
    case 0x8: return low < 8 && fits(low + 1, at: offset)
    default: break
    }
    var offset = offset
    guard let count = takeCount(low, bytes, &offset) else { return false }
    switch marker >> 4 {
    case 0x4: return fits(count, at: offset)
    case 0x5:
      guard fits(count, at: offset) else { return false }
      return bytes.extracting(offset..<offset + count).copied().allSatisfy { $0 < 0x80 }
    case 0x6: return count <= table / 2 && fits(2 * count, at: offset)
    case 0xA: return takeElements(count, bytes, &offset, depth)
    case 0xD:
      guard hasTextKeys(count, bytes, offset) else { return false }
      return count <= table && takeElements(2 * count, bytes, &offset, depth)
    default: return false
    }
  }

  /// The count of a text, of data or of elements: in the marker, or in a number that follows it.
  private func takeCount(_ low: Int, _ bytes: RawSpan, _ offset: inout Int) -> Int? {
    guard low == 0x0F else { return low }
    guard let marker = take(bytes, &offset, 1), marker >> 4 == 0x1, marker & 0x0F <= 3 else {
      return nil
    }
    return take(bytes, &offset, 1 << (marker & 0x0F))
  }

  private mutating func takeElements(
    _ count: Int, _ bytes: RawSpan, _ offset: inout Int, _ depth: Int
  ) -> Bool {
    guard count <= table / referenceSize else { return false }
    for _ in 0..<count {
      guard let object = take(bytes, &offset, referenceSize),
        takeObject(object, bytes, depth: depth + 1)
      else { return false }
    }
    return true
  }

  private func hasTextKeys(_ count: Int, _ bytes: RawSpan, _ offset: Int) -> Bool {
    guard count <= table / referenceSize else { return false }
    var offset = offset
    for _ in 0..<count {
      guard let object = take(bytes, &offset, referenceSize), object < objects.count,
        var key = Self.number(bytes, at: table + object * offsetSize, size: offsetSize),
        let marker = take(bytes, &key, 1), [0x5, 0x6].contains(marker >> 4)
      else { return false }
    }
    return true
  }

  // MARK: - Numbers

  /// Whether so many bytes lie before the table.
  private func fits(_ count: Int, at offset: Int) -> Bool {
    offset >= Self.header.count && offset <= table && count <= table - offset
  }

  /// Takes a number that lies before the table.
  private func take(_ bytes: RawSpan, _ offset: inout Int, _ size: Int) -> Int? {
    guard fits(size, at: offset) else { return nil }
    defer { offset += size }
    return Self.number(bytes, at: offset, size: size)
  }

  /// Whether a number fits into so many bytes; Foundation's reader asks this of the two sizes.
  private static func canHold(_ number: Int, size: Int) -> Bool {
    size >= 8 || number < 1 << (8 * size)
  }

  /// A number of up to 8 bytes, most significant byte first; nil if it is larger than an `Int`.
  private static func number(_ bytes: RawSpan, at offset: Int, size: Int) -> Int? {
    var number: UInt64 = 0
    for index in offset..<offset + size {
      number = number << 8 | UInt64(unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self))
    }
    return Int(exactly: number)
  }
}
