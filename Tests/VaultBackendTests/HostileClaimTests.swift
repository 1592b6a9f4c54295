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
