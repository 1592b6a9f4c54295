import Foundation
import StorageCore

/// Files in the private folders of scripts/fuzz.sh, which are in memory where that can be.
enum PrivateFolder {
  /// The folder that a variable names.
  static func path(_ variable: String) throws -> String {
    let environment = ProcessInfo.processInfo.environment
    guard environment["SPS_PRIVATE_ENVIRONMENT"] != nil, let path = environment[variable] else {
      finding("run it by scripts/fuzz.sh: the folder \(variable) is not private")
    }
    return path
  }

  static func read(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Puts bytes in the place of a file, as somebody does who replaces it.
  static func write(_ bytes: [UInt8], to path: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path + ".fuzz"))
    guard unsafe chmod(path + ".fuzz", 0o600) == 0, unsafe rename(path + ".fuzz", path) == 0 else {
      finding("rename: \(errno)")
    }
  }

  static func fill(_ storage: DelegatedStorage, _ count: Int) throws {
    try storage.open()
    for index in 0..<count { try storage.save(Sample.text, forKey: "key \(index)") }
  }

  /// Reads and writes.
  ///
  /// - Returns: whether it could be read.
  static func use(_ storage: DelegatedStorage) throws -> Bool {
    _ = try taking { try storage.keyAdministration.slots() }
    let listing = try taking { try storage.listing() }
    var isRead = listing != nil
    for key in listing?.keys ?? [] {
      if let text = try taking({ try storage.load(String.self, forKey: key) }), text != Sample.text
      {
        finding("a forged value opened")
      }
    }
    if try taking({ try storage.load(String.self, forKey: "key 0") }) == nil { isRead = false }
    _ = try taking(also: [.readOnly]) {
      try storage.save(Sample.text, forKey: "key 0")
    }
    return isRead
  }
}
