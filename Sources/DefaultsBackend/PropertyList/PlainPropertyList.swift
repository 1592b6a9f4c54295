package import StorageCore

/// The property list of a plain suite: readable names and unsealed values.
///
/// It has the same format as a sealed suite: a flat dictionary from ASCII strings to data.
package enum PlainPropertyList {
  /// The entries of a file.
  ///
  /// - Throws: `damaged` when the bytes are not a flat property list or contain a key twice.
  package static func entries(of bytes: [UInt8]) throws(StorageError) -> [String: [UInt8]] {
    // In a list of one-letter keys, each key takes at least 4 bytes.
    var reader = try FlatPropertyListReader(bytes, shortestKey: 4)
    var entries: [String: [UInt8]] = [:]
    try reader.forEachPair { (key, value) throws(StorageError) in
      guard key.allSatisfy({ (32..<127).contains($0) }) else {
        throw FlatPropertyListReader.damaged
      }
      let name = String(decoding: key, as: UTF8.self)
      guard entries.updateValue(Array(value), forKey: name) == nil else {
        throw FlatPropertyListReader.damaged
      }
    }
    return entries
  }

  /// The bytes of a file with these entries, whose names must be printable ASCII.
  ///
  /// - Throws: `full` when the file would be too large.
  package static func bytes(of entries: [String: [UInt8]]) throws(StorageError) -> [UInt8] {
    let names = entries.keys.sorted()
    let size = entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.count }
    var writer = try FlatPropertyListWriter(pairCount: names.count, capacity: size)
    for name in names { writer.append(key: name.utf8) }
    for name in names { writer.append(value: entries[name] ?? []) }
    return writer.finish()
  }
}
