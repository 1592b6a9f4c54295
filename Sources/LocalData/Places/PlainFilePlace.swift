internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// A file whose bytes are those of the value.
struct PlainFilePlace: ValuePlace {
  let folder: SharedFolder
  /// The file's name, see ``FileName``.
  let file: String
  /// Whether the folder is a cache, which gets a tag for backup programs.
  let isCache: Bool

  func read() throws(StorageError) -> Data? { try folder.read(file).map { Data($0) } }

  func write(_ bytes: Data) throws(StorageError) {
    try folder.locked { (folder) throws(StorageError) in
      if isCache { try CacheTag.leave(in: folder) }
      try folder.write(Array(bytes), to: file)
    }
  }

  func remove() throws(StorageError) {
    guard try contains() else { return }
    try folder.locked { (folder) throws(StorageError) in try folder.remove(file) }
  }

  func contains() throws(StorageError) -> Bool { try folder.contains(file) }

  func replace(_ old: Data?, by new: Data?) throws(StorageError) -> Bool {
    try folder.locked { (locked) throws(StorageError) in
      guard try locked.read(file).map({ Data($0) }) == old else { return false }
      if let new {
        if isCache { try CacheTag.leave(in: locked) }
        try locked.write(Array(new), to: file)
      } else {
        try locked.remove(file)
      }
      return true
    }
  }

  func observe(_ onChange: @escaping @Sendable () -> Void) -> ChangeObservation {
    folder.observe(onChange)
  }
}

/// The file that marks a folder as a cache: bford.info/cachedir.
enum CacheTag {
  static let name = "CACHEDIR.TAG"
  private static let content = Array(
    "Signature: 8a477f597d28d172789f06886806bc55\n# Made anew when it is gone.\n".utf8)

  static func leave(in folder: borrowing LockedFolder) throws(StorageError) {
    guard try !folder.contains(name) else { return }
    try folder.write(content, to: name)
  }
}

/// Converts between the name of a key and the name of its file.
enum FileName {
  /// The longest encoded name in bytes, so that it fits into a file name (255 bytes).
  static let limit = 240

  /// The name in which every byte but letters, digits, `-`, `_` and inner dots becomes `%` and two
  /// digits.
  static func escape(_ name: String) -> String {
    var text = ""
    for (index, byte) in name.utf8.enumerated() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: ".") where index > 0: text += "."
      default: text += "%" + Hexadecimal.encode([byte])
      }
    }
    return text
  }

  /// The name as a file name.
  ///
  /// - Throws: `invalid` if the file name is too long.
  static func encode(_ name: String) throws(StorageError) -> String {
    let text = escape(name)
    guard text.utf8.count <= limit else {
      throw StorageError(
        .invalid,
        "the name is too long for a file: at most \(limit) bytes, where each byte that is not a letter, "
          + "digit, dot, - or _ counts three", key: name)
    }
    // A key must not use the name of the cache's tag.
    return text == CacheTag.name ? "%43ACHEDIR.TAG" : text
  }

  /// The name of the key whose file this is, or nil for any other file.
  static func decode(_ file: String) -> String? {
    guard !file.hasPrefix("."), file != CacheTag.name, let name = unescape(file) else { return nil }
    do throws(StorageError) { return try encode(name) == file ? name : nil } catch { return nil }
  }

  /// The name that was escaped; nil for text that is not an escaped name.
  static func unescape(_ text: String) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let code = Hexadecimal.decode(String(decoding: rest.prefix(2), as: UTF8.self)),
        code.count == 1
      else { return nil }
      bytes += code
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
