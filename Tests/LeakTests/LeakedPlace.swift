import CryptoCore
import Foundation
import StorageCore
import Testing

/// One thing that a store writes somewhere: a row of a vault, an entry of a suite, an item, a file.
struct RawName: Hashable {
  /// The file, relative to the place; empty where the place has no files.
  var file = ""
  /// The row, entry or item in it; empty for a whole file.
  var entry = ""
  /// Whether it leads to keys and holds no value.
  var isHeader = false
}

/// A place with one store in it, whose bytes anybody may read and write without a key.
protocol LeakedPlace: Sendable {
  /// The same bytes at another place, as a thief takes them, or as a thief lays them there.
  func twin() throws -> any LeakedPlace

  /// All that is there, byte for byte.
  func contents() throws -> [RawName: Data]

  /// Writes such things without any key.
  func put(_ contents: [RawName: Data]) throws

  /// A program that starts now and uses the store with a key.
  func program(_ key: SymmetricKey) throws -> any LeakedProgram
}

/// A program that uses a store of one of the package's kinds.
protocol LeakedProgram: Sendable {
  func save(_ value: String, _ name: String) throws
  /// The values that can be read; a name that is absent or can't be read is not among them.
  func load(_ names: [String]) throws -> [String: String]
  /// Replaces all keys, as a user does after one of them leaked.
  func rotate(to key: SymmetricKey, names: Bool) throws
}

/// A kind of store that the package offers.
struct StoreKind: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// How many bytes a value has; the place of a value may depend on it.
  var valueSize = 16
  /// Whether a rotation can hash names anew.
  var canRename = true
  let make: @Sendable () throws -> any LeakedPlace

  /// A value that tells which one it is, in the size of this kind.
  func value(_ word: String) -> String {
    word + String(repeating: ".", count: max(0, valueSize - word.utf8.count))
  }
}

extension LeakedProgram {
  /// Calls `read` for each name, and leaves out what is absent or an error of the package's.
  func values(
    of names: [String], _ read: (String) throws -> String?
  ) rethrows -> [String: String] {
    var values: [String: String] = [:]
    for name in names {
      do { values[name] = try read(name) } catch is StorageError {}
    }
    return values
  }
}
