import CPeers

/// Bare SQLite or SQLCipher through C: a database of names and values, synced at every commit.
@safe
final class Peer {
  /// As long as the hashes that the vault's rows are found by.
  static let nameSize = 64
  /// As long as the vault's record of a `String` of 32 bytes.
  static let recordSize = 82
  /// As long as the vault's manifest.
  static let manifestSize = 1153
  private static let manifest = [UInt8](repeating: 0x4D, count: manifestSize)

  private let handle: OpaquePointer
  private let value: [UInt8]
  private let names: [UInt8]
  private var found: [UInt8]
  /// What it calls itself.
  let version: String

  /// What the peers call themselves.
  static var versions: [String] {
    [
      unsafe peer_load("libsqlite3.so.0").map {
        unsafe "SQLite " + String(cString: peer_version($0))
      },
      unsafe peer_load("libsqlcipher.so.0").map {
        unsafe "SQLCipher of SQLite " + String(cString: peer_version($0))
      },
    ].compactMap(\.self)
  }

  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  /// The distribution's SQLite, with as many rows.
  convenience init(sqliteIn folder: String, rows: Int, _ tables: peer_tables) throws {
    try self.init(
      "libsqlite3.so.0", package: "libsqlite3-0", folder + "/sqlite-\(rows)-\(tables.rawValue).db",
      key: nil, tables, rows, valueSize: Self.recordSize)
  }

  /// SQLCipher, with a key that needs no derivation, and values as they are, since it seals them.
  convenience init(cipherIn folder: String, rows: Int) throws {
    try self.init(
      "libsqlcipher.so.0", package: "libsqlcipher-dev", folder + "/sqlcipher-\(rows).db",
      key: String(repeating: "2f", count: 32), peer_plain_table, rows, valueSize: 32)
  }

  private init(
    _ library: String, package: String, _ path: String, key: String?, _ tables: peer_tables,
    _ rows: Int, valueSize: Int
  ) throws {
    guard let loaded = unsafe peer_load(library) else {
      throw Failed(description: "\(library) is missing: apt-get install \(package)")
    }
    guard let handle = unsafe peer_open(loaded, path, key, tables) else {
      throw Failed(description: "\(library) can't make \(path)")
    }
    unsafe self.handle = handle
    value = [UInt8](repeating: 0x5A, count: valueSize)
    found = [UInt8](repeating: 0, count: valueSize)
    names = Self.names(rows)
    let sqlite = unsafe String(cString: peer_version(loaded))
    let cipher = unsafe peer_cipher_version(handle).map { unsafe String(cString: $0) }
    // One library in the place of the other would look splendid.
    guard (cipher != nil) == (key != nil) else {
      throw Failed(description: "\(library) is not the library that it should be")
    }
    version = cipher.map { "SQLCipher \($0) (SQLite \(sqlite))" } ?? "SQLite \(sqlite)"
    try writeAll(1)
  }

  deinit { unsafe peer_close(handle) }

  /// Names that are spread as hashes are.
  private static func names(_ count: Int) -> [UInt8] {
    var random = Random()
    var names: [UInt8] = []
    names.reserveCapacity(count * nameSize)
    for _ in 0..<count * nameSize / 8 {
      unsafe withUnsafeBytes(of: random.next()) { unsafe names.append(contentsOf: $0) }
    }
    return names
  }

  /// Reads one value over and over.
  func read(_ rounds: Int) throws {
    try read(rounds, row: 0)
  }

  private func read(_ rounds: Int, row: Int) throws {
    var count = 0
    let capacity = found.count
    let result = unsafe names.withUnsafeBufferPointer { names in
      unsafe peer_read(
        handle, rounds, names.baseAddress! + row * Self.nameSize, &found, capacity, &count)
    }
    guard result == 0, found == value else { throw failed }
  }

  /// Writes one row and the manifest's, durably, over and over.
  func write(_ rounds: Int) throws { try write(rounds, rows: 1, from: 0) }

  /// Writes row after row, each durably with the manifest's.
  func writeInTurn(_ rounds: Int) throws {
    for round in 0..<rounds { try write(1, rows: 1, from: round % (names.count / Self.nameSize)) }
  }

  /// Writes all rows and the manifest's in one transaction, over and over.
  func writeAll(_ rounds: Int) throws {
    try write(rounds, rows: names.count / Self.nameSize, from: 0)
  }

  private func write(_ rounds: Int, rows: Int, from start: Int) throws {
    let result = unsafe names.withUnsafeBufferPointer { names in
      unsafe peer_write(
        handle, rounds, names.baseAddress! + start * Self.nameSize, rows, value, value.count,
        Self.manifest, Self.manifest.count)
    }
    guard result == 0 else { throw failed }
  }

  private var failed: Failed {
    unsafe Failed(description: "\(version): " + String(cString: peer_message(handle)))
  }
}

/// Numbers that are spread, and the same in each run.
struct Random {
  private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

  /// As in https://prng.di.unimi.it/splitmix64.c.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}
