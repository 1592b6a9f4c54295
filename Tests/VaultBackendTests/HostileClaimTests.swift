import Foundation
import TestSupport
import Testing
import VaultBackend

/// Files that claim to need much: time for a key, memory for a row, room for pages.
///
/// The memory is that of a process of its own, since tests run side by side.
struct HostileClaimTests {
  private let vault = TemporaryVault()

  /// What another process says to a command, and the most memory that it had, in MiB.
  private func peak(_ command: String...) throws -> (answer: String, mebibytes: Int) {
    let said = try helper.start(["peak", vault.path] + command).lines().last ?? "died 0"
    let words = said.split(separator: " ").map(String.init)
    let size = try #require(words.last.flatMap { Int($0) })
    return (words.dropLast().joined(separator: " "), size / 1024)
  }

  private func setHeader(_ header: [UInt8]) throws {
    let hex = header.map { String(format: "%02x", $0) }.joined()
    try vault.tamper("UPDATE meta SET value = x'\(hex)' WHERE id = 1")
  }

  // MARK: - Key derivation

  /// docs/file-format.md, "Slot": the first begins at byte 26 of a header, and one of a passphrase
  /// has no identifier.
  private static func codeOfASlot(byte offset: Int) -> String {
    switch offset - 26 {
    case 0, 5, 10: "error unsupported"  // version, kind, function
    case 1..<23: "error damaged"  // id, length of the identifier, parameters
    default: "error wrongKey"  // salt
    }
  }

  @Test func aSlotThatAsksForMoreThanTheLimitsIsRefusedBeforeAnythingIsDerived() throws {
    let source = KeySource.passphrase("open sesame", derivation: .scrypt(cost: 1024).withoutFloor)
    try vault.storage(source).save("value", forKey: "key")
    let header = try #require(try vault.delegate().header().header)
    let sound = try peak("load-passphrase", "key")
    #expect(sound.answer == "value")
    for offset in 26..<52 {
      var hostile = header
      hostile[offset] ^= 0xFF  // so that it differs, whatever it is
      try setHeader(hostile)
      let found = try peak("load-passphrase", "key")
      #expect(found.answer == Self.codeOfASlot(byte: offset), "byte \(offset)")
      #expect(found.mebibytes < sound.mebibytes + 16, "byte \(offset)")
    }
  }

  /// A function and its three parameters: docs/file-format.md, "Slot" and "Limits".
  @Test(
    arguments: [
      (1, [1 << 21, 8, 1]), (1, [1 << 31, 8, 1]), (1, [1 << 20, 32, 1]), (1, [1 << 20, 8, 16]),
      (1, [(1 << 17) + 1, 8, 1]), (1, [0, 8, 1]), (1, [1, 8, 1]), (1, [1 << 17, 0, 1]),
      (1, [1 << 10, 33, 1]), (1, [1 << 10, 8, 17]), (1, [1 << 10, 8, 0]),
      (2, [10_000_001, 0, 0]), (2, [0, 0, 0]), (2, [1000, 1, 0]), (2, [1000, 0, 1]),
      (3, [UInt32.max, 0, 0]), (4, [(1 << 20) + 1, 3, 4]), (4, [UInt32.max, UInt32.max, 1]),
      (4, [65_536, 17, 4]), (4, [65_536, 3, 17]), (4, [8, 1, 2]), (0, [1, 0, 0]),
    ] as [(UInt8, [UInt32])])
  func parametersBeyondTheLimitsAreDamage(_ function: UInt8, _ parameters: [UInt32]) throws {
    let source = KeySource.passphrase("open sesame", derivation: .scrypt(cost: 1024).withoutFloor)
    try vault.storage(source).save("value", forKey: "key")
    let header = try #require(try vault.delegate().header().header)
    let sound = try peak("load-passphrase", "key")
    let bytes = parameters.flatMap { number in
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
    try setHeader(Array(header[..<36]) + [function] + bytes + header[49...])
    let found = try peak("load-passphrase", "key")
    #expect(found.answer == "error damaged")
    #expect(found.mebibytes < sound.mebibytes + 16)
  }

  // MARK: - Rows

  @Test(arguments: [
    // What is longer than any header is not read. SQLite reads a name to compare it, whatever its
    // length; a record may be that long.
    ("UPDATE meta SET value = zeroblob(64000000) WHERE id = 1", "error damaged", 16),
    ("UPDATE meta SET value = zeroblob(64000000) WHERE id = 2", "value", 16),
    ("UPDATE meta SET value = zeroblob(4000000) WHERE id = 1", "error damaged", 32),
    ("UPDATE record SET value = zeroblob(64000000)", "error unsupported", 192),
    ("UPDATE record SET name = zeroblob(64000000)", "nil", 192),
  ])
  func oversizedBlobsTakeNoMoreMemoryThanARecordMay(
    _ sql: String, _ expected: String, _ limit: Int
  ) throws {
    try vault.storage().save("value", forKey: "key")
    let sound = try peak("load", "key")
    #expect(sound.answer == "value")
    try vault.tamper(sql)
    let found = try peak("load", "key")
    #expect(found.answer == expected)
    #expect(found.mebibytes < sound.mebibytes + limit)
  }

  /// A row of 2.2 MB that says it has 134 MB: https://sqlite.org/fileformat2.html#record_format.
  @Test func aRowThatClaimsToBeLongerThanItsFileIsDamageAndNotMadeRoomFor() throws {
    var storage: VaultStorage? = vault.storage()
    try storage?.save(Data(count: 2_200_000), forKey: "key")
    storage = nil
    let sound = try peak("load-data", "key")
    #expect(sound.answer == "2200000")
    var bytes = try vault.bytes()
    // Before the types of a row, their length and the row's number; before those, its own length.
    let types: [UInt8] = [0x08, 0x00, 0x81, 0x0C]
    let place = try #require(Data(bytes).range(of: Data(types))).startIndex
    bytes.replaceSubrange(place - 5..<place - 1, with: [0xBF, 0xFF, 0xFF, 0x7F])
    bytes.replaceSubrange(place + 4..<place + 8, with: [0xFF, 0xFF, 0xFE, 0x00])
    try vault.put(bytes)
    let found = try peak("load-data", "key")
    #expect(found.answer == "error damaged")
    #expect(found.mebibytes <= sound.mebibytes + 4)
  }

  // MARK: - Pages

  /// The header of a file suggests how many pages are to be kept in memory.
  @Test func aFileDoesNotSayHowMuchOfItIsKeptInMemory() throws {
    var storage: VaultStorage? = vault.storage()
    try storage?.saveAll(
      Dictionary(uniqueKeysWithValues: (0..<4_000).map { ("key \($0)", Data(count: 16_000)) }))
    storage = nil
    let sound = try peak("verify")
    #expect(sound.answer == "sound 4000")
    var bytes = try vault.bytes()
    // https://sqlite.org/fileformat2.html#suggested_cache_size
    bytes.replaceSubrange(48..<52, with: [0x7F, 0xFF, 0xFF, 0xFF])
    try vault.put(bytes)
    let found = try peak("verify")
    #expect(found.answer == "sound 4000")
    #expect(found.mebibytes < sound.mebibytes + 16)
  }

  @Test func filesThatAreLargeAndEmptyBehindWhatTheyHoldTakeNoMemory() throws {
    try vault.storage().save("value", forKey: "key")
    let sound = try peak("load", "key")
    for suffix in ["", "-wal", "-shm", "-notice"] {
      if suffix != "" { try vault.put([], "test.vault" + suffix) }
      // Sparse: it takes no room on the disk either.
      #expect(unsafe truncate(vault.path + suffix, 8 << 30) == 0)
      let found = try peak("load", "key")
      #expect(found.answer == "value", "\(suffix)")
      #expect(found.mebibytes < sound.mebibytes + 16, "\(suffix)")
    }
  }
}
