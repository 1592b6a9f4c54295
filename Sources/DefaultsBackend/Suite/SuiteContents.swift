internal import CryptoCore
internal import StorageCore

/// The contents of a suite's file.
struct SuiteContents: Sendable, Equatable {
  /// The key of the header.
  ///
  /// It can't be a name hash, because those have 128 digits.
  static let headerKey: [UInt8] = Array("SecurePropertyStorage".utf8)

  var header: [UInt8]?
  var records: [NameHash: [UInt8]] = [:]

  /// Empty contents, as for a missing file.
  init() {}

  /// Reads a property list.
  ///
  /// - Throws: `damaged` unless every key is the header's key or a name hash, and every value is
  ///   data.
  init(reading bytes: [UInt8]) throws(StorageError) {
    var header: [UInt8]?
    var records: [NameHash: [UInt8]] = [:]
    var reader = try FlatPropertyListReader(bytes)
    records.reserveCapacity(reader.pairCount)
    try reader.forEachPair { (key, value) throws(StorageError) in
      if let name = Self.name(of: key) {
        guard records.updateValue(Array(value), forKey: name) == nil else {
          throw FlatPropertyListReader.damaged
        }
      } else {
        guard header == nil, key.elementsEqual(Self.headerKey) else {
          throw FlatPropertyListReader.damaged
        }
        header = Array(value)
      }
    }
    self.header = header
    self.records = records
  }

  /// The property list.
  ///
  /// - Throws: `full` when it would be too large.
  func propertyList() throws(StorageError) -> [UInt8] {
    let size = records.values.reduce(header?.count ?? 0) { $0 + $1.count }
    let pairCount = records.count + (header == nil ? 0 : 1)
    var writer = try FlatPropertyListWriter(
      pairCount: pairCount, capacity: size + pairCount * 2 * NameHash.byteCount)
    if header != nil { writer.append(key: Self.headerKey) }
    for name in records.keys { writer.append(hexadecimal: name.bytes) }
    if let header { writer.append(value: header) }
    for record in records.values { writer.append(value: record) }
    return writer.finish()
  }

  /// The records that differ between these contents and `others`, removed records first.
  ///
  /// With `andAllElse`, unchanged records are included.
  func changes(
    to others: SuiteContents, andAllElse isEach: Bool = false
  ) -> [(name: NameHash, record: [UInt8]?)] {
    var changes: [(name: NameHash, record: [UInt8]?)] = []
    for name in records.keys where others.records[name] == nil { changes.append((name, nil)) }
    for (name, record) in others.records where isEach || records[name] != record {
      changes.append((name, record))
    }
    return changes
  }

  /// The name hash that a key encodes, in lower-case hexadecimal, or nil.
  private static func name(of key: ArraySlice<UInt8>) -> NameHash? {
    guard key.count == 2 * NameHash.byteCount else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(NameHash.byteCount)
    var high: UInt8?
    for character in key {
      guard let digit = value(of: character) else { return nil }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return NameHash(bytes)
  }

  private static func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
