import Foundation
import TestSupport
import Testing

@testable import VaultBackend

/// Files that an enemy wrote, or a broken disk.
@Suite struct HostileFileTests {
  private let vault = TemporaryVault()
  private let keys = ["key-0", "key-1", "key-2", "key-3"]

  /// A small vault, closed.
  private func fill() throws -> [UInt8] {
    let storage = vault.storage()
    for key in keys { try storage.save("value of \(key)", forKey: key) }
    try storage.delete(forKey: "key-3")
    return try closedBytes(storage)
  }

  private func closedBytes(_ storage: consuming VaultStorage) throws -> [UInt8] {
    try storage.backup(to: vault.file("closed.vault"), replacing: true)
    return try vault.bytes("closed.vault")
  }

  /// Reads all that there is, and expects the right values or errors.
  ///
  /// An absent value is the answer only where a verification tells that something is wrong.
  ///
  /// - Parameters:
  ///   - name: the file.
  ///   - access: what it is opened for.
  ///   - code: what every read says, where that is determined.
  ///   - codes: what a read may say elsewhere, instead of giving the value.
  ///   - isListed: whether the list of keys is not to fall silently short.
  ///   - what: what was done to the file.
  private func expectNoWrongValue(
    _ name: String, access: StoreAccess = .readWrite, code: StorageError.Code? = nil,
    orElse codes: Set<StorageError.Code> = [.damaged], isListed: Bool = true,
    _ what: @autoclosure () -> String
  ) {
    let start = ContinuousClock.now
    let storage = vault.storage(named: name, access: access)
    var missing = 0
    for key in keys {
      do throws(StorageError) {
        let value = try storage.load(String.self, forKey: key)
        if value == nil { missing += key == "key-3" ? 0 : 1 }
        if let value, value != "value of \(key)" { Issue.record("\(what()): wrong value") }
        if let code { Issue.record("\(what()): a value, or none, and not \(code)") }
      } catch {
        let isRight = code.map { $0 == error.code } ?? codes.contains(error.code)
        if !isRight { Issue.record("\(what()): \(error)") }
      }
    }
    do throws(StorageError) {
      let listing = try storage.listing()
      let listed = Set(listing.keys)
      if isListed, listed.count != listing.keys.count || !listed.isSubset(of: keys) {
        Issue.record("\(what()): listed are \(listing.keys)")
      }
      // One is removed.
      let count = listed.subtracting(["key-3"]).count + listing.unreadable
      if isListed, count < keys.count - 1 {
        Issue.record("\(what()): the list falls silently short")
      }
    } catch {
      let isRight = code.map { $0 == error.code } ?? codes.contains(error.code)
      if !isRight { Issue.record("\(what()): listing: \(error)") }
    }
    do throws(StorageError) {
      let isSound = try storage.verify().isSound
      if isSound, missing > 0 { Issue.record("\(what()): values are gone unnoticed") }
      // Damage may be told in a report; whatever it is, nothing is sound.
      if let code, isSound || code != .damaged {
        Issue.record("\(what()): a report, and not \(code)")
      }
    } catch {
      let isRight = code.map { $0 == error.code } ?? codes.contains(error.code)
      if !isRight { Issue.record("\(what()): verify: \(error)") }
    }
    if start.duration(to: .now) > .seconds(60) { Issue.record("\(what()): it took long") }
  }

  /// What a flipped byte is told by, where docs/file-format.md determines it: in the version of the
  /// file and in the store's header.
  ///
  /// - Parameters:
  ///   - index: the byte.
  ///   - value: what it is now.
  ///   - header: where the header begins; its one slot is of a key, and has no identifier.
  ///   - end: where the header ends.
  /// - Returns: the code of every read, or nil where it is not determined.
  private static func codeOfAFlippedByte(
    _ index: Int, _ value: UInt8, header: Int, end: Int
  ) -> StorageError.Code? {
    // https://sqlite.org/fileformat2.html#the_database_header: the magic, then the user version.
    if index < 16 { return .damaged }
    if (60..<64).contains(index) { return .unsupported }
    guard (header..<end).contains(index) else { return nil }
    return switch index - header {
    // Versions of header and slot, kind of the source.
    case 4, 26, 31: .unsupported
    // The derivation: another one has no parameters here that it could have.
    case 36: (1...4).contains(value) ? .damaged : .unsupported
    // Salt and check value.
    case 49..<113: .wrongKey
    default: .damaged
    }
  }

  private func flip(_ masks: [UInt8], every step: Int) throws {
    let bytes = try fill()
    let header = try #require(
      try VaultDelegate(at: vault.file("closed.vault"), access: .readOnly).header().header)
    let place = try #require(Data(bytes).range(of: Data(header)))
    let chunk = (bytes.count + 3) / 4
    Threads.run(4) { thread in
      let name = "flipped-\(thread).vault"
      for index in thread * chunk..<min(bytes.count, (thread + 1) * chunk) {
        // The file's own header whole, the rest as densely as there is time for.
        let isSparse = bytes[index] == 0 && step > 1
        let isKnown = index < 100 || (place.startIndex..<place.startIndex + 50).contains(index)
        guard isKnown || index % (isSparse ? step * 16 : step) == 0 else { continue }
        for mask in masks {
          var flipped = bytes
          flipped[index] ^= mask
          for suffix in ["-wal", "-shm", "-notice"] {
            try? FileManager.default.removeItem(at: vault.file(name + suffix))
          }
          do { try vault.put(flipped, name) } catch { Issue.record(error) }
          let code = Self.codeOfAFlippedByte(
            index, flipped[index], header: place.startIndex, end: place.endIndex)
          expectNoWrongValue(
            name, code: code, orElse: [.damaged, .unsupported], "byte \(index) ^ \(mask)")
        }
      }
    }
  }

  @Test func noFlippedByteMakesAWrongValue() throws {
    try flip([0x81], every: Depth.isFull ? 5 : 15)
  }

  @Test(.enabled(if: Soak.isOn)) func noFlippedByteMakesAWrongValueSoak() throws {
    try flip([0x01, 0x80, 0x81, 0xFF], every: 1)
  }

  /// SQLite takes a log up to the first frame that is damaged, so older values may come back; those
  /// and no others, and the file as a whole is one that was there.
  @Test func noFlippedByteOfALogMakesAnythingButAnOlderState() throws {
    try vault.saveAndDie()
    let (file, log) = (try vault.bytes(), try vault.bytes("test.vault-wal"))
    for index in stride(from: 0, to: log.count, by: log.count / 300) {
      var flipped = log
      flipped[index] ^= 0x40
      // Under a name of its own: where this process has seen a newer state, an older one is
      // damaged.
      let name = "log-\(index).vault"
      try vault.put(file, name)
      try vault.put(flipped, name + "-wal")
      let storage = vault.storage(named: name)
      let value = try storage.load(String.self, forKey: "key")
      #expect([nil, "before", "newest"].contains(value))
      #expect(try storage.verify().isSound)
    }
  }

  @Test func aVaultThatIsCutOffIsNoVaultOrSaysWhatIsGone() throws {
    let bytes = try fill()
    for size in Array(stride(from: 0, to: bytes.count, by: 512)) + [1, 99, 100, bytes.count - 1] {
      for access in [StoreAccess.readWrite, .readOnly] {
        try? FileManager.default.removeItem(at: vault.file("cut.vault-wal"))
        try vault.put(Array(bytes.prefix(size)), "cut.vault")
        expectNoWrongValue("cut.vault", access: access, "cut to \(size)")
        let storage = vault.storage(named: "cut.vault", access: access)
        var isSound = false
        let found = code { isSound = try storage.verify().isSound }
        #expect(!isSound && found != .io, "\(size)")
      }
    }
  }

  // Such a file may be read all the same: https://sqlite.org/fileformat2.html#ffver
  @Test func aFileThatOnlyALaterSQLiteMayWriteToIsDamagedForWhoWantsToWrite() throws {
    var bytes = try fill()
    bytes[18] = 3
    try vault.put(bytes, "later.vault")
    expectNoWrongValue("later.vault", code: .damaged, "to be written")
    let storage = vault.storage(named: "later.vault", access: .readOnly)
    #expect(try storage.load(String.self, forKey: "key-0") == "value of key-0")
  }

  // MARK: - What is no vault

  @Test(arguments: [
    "CREATE TABLE other (a)", "ANALYZE",
    "CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM meta; END",
    "CREATE TRIGGER t AFTER UPDATE ON meta BEGIN UPDATE record SET value = NULL; END",
    "CREATE VIEW v AS SELECT * FROM record",
    "DROP INDEX tombstone", "CREATE INDEX more ON record (value)",
    "ALTER TABLE record RENAME TO records; CREATE VIEW record AS SELECT * FROM records",
    "ALTER TABLE record ADD COLUMN more BLOB", "DROP TABLE meta", "PRAGMA application_id = 1",
    "CREATE VIRTUAL TABLE f USING fts5(a)",
    """
    DROP TABLE record; CREATE TABLE record (sequence INTEGER PRIMARY KEY, name BLOB NOT NULL \
    UNIQUE, value BLOB GENERATED ALWAYS AS (zeroblob(1000000000)))
    """,
    """
    PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || ' -- ' || \
    hex(zeroblob(10000000)) WHERE name = 'meta'
    """,
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) "
      + "SELECT 1; CREATE TABLE a1 (b); CREATE TABLE a2 (b); CREATE TABLE a3 (b)",
  ])
  func aFileOfAnotherSchemaIsDamaged(_ sql: String) throws {
    _ = try fill()
    do { try vault.tamper(sql) } catch { return }  // this SQLite lacks what is tried
    for access in [StoreAccess.readWrite, .readOnly] {
      let storage = vault.storage(access: access)
      #expect(code { _ = try storage.load(String.self, forKey: "key-0") } == .damaged)
      #expect(code { try storage.save("value", forKey: "key-0") } != nil)
    }
  }

  @Test(arguments: ["empty", "text", "zeros", "database", "folder", "fifo", "socket"])
  func whatIsNoVaultIsRefusedAndLeftAsItIs(_ kind: String) throws { try refuse(kind) }

  @Test(.enabled(if: geteuid() == 0, "needs the right to make devices"))
  func aDeviceIsRefusedAndLeftAsItIs() throws { try refuse("device") }

  private func refuse(_ kind: String) throws {
    switch kind {
    case "empty": try vault.put([])
    case "text": try vault.put(Array(repeating: 0x41, count: 9000))
    case "zeros": try vault.put(Array(repeating: 0, count: 9000))
    case "database": try vault.tamper("CREATE TABLE record (a); CREATE TABLE meta (b)")
    case "folder":
      try FileManager.default.createDirectory(at: vault.url, withIntermediateDirectories: false)
    case "fifo": #expect(unsafe mkfifo(vault.path, 0o600) == 0)
    case "socket": #expect(unsafe mknod(vault.path, S_IFSOCK | 0o600, 0) == 0)
    default: #expect(unsafe mknod(vault.path, S_IFCHR | 0o600, 0x105) == 0)  // /dev/zero
    }
    _ = unsafe chmod(vault.path, 0o600)
    let status = try FileManager.default.attributesOfItem(atPath: vault.path)
    let isFile = status[.type] as? FileAttributeType == .typeRegular
    let expected: StorageError.Code = isFile ? .damaged : .denied
    for access in [StoreAccess.readWrite, .readOnly] {
      let storage = vault.storage(access: access)
      #expect(code { _ = try storage.load(String.self, forKey: "key") } == expected)
      #expect(code { _ = try storage.verify() } == expected)
      #expect(code { try storage.compact() } == expected)
    }
    #expect(code { try vault.storage().save("value", forKey: "key") } == expected)
    let after = try FileManager.default.attributesOfItem(atPath: vault.path)
    #expect(status[.size] as? Int == after[.size] as? Int)
  }

  // MARK: - Rows

  @Test(arguments: [
    "UPDATE meta SET sequence = -1 WHERE id = 2",
    "UPDATE meta SET sequence = 9223372036854775807 WHERE id = 2",
    "UPDATE meta SET sequence = 9223372036854775807 WHERE id = 3",
    "UPDATE meta SET sequence = -9223372036854775808 WHERE id = 3",
    "UPDATE record SET sequence = 9223372036854775807 WHERE sequence = (SELECT min(sequence) FROM record)",
    "UPDATE meta SET sequence = 4611686018427387904",
    "DELETE FROM meta WHERE id = 2", "DELETE FROM meta WHERE id = 3",
  ])
  func sequenceNumbersThatContradictEachOtherAreDamage(_ sql: String) throws {
    _ = try fill()
    try vault.tamper(sql)
    #expect(code { _ = try vault.storage().load(String.self, forKey: "key-0") } == .damaged)
    #expect(code { try vault.storage().save("value", forKey: "key-0") } == .damaged)
  }

  @Test func sequenceNumbersThatMayBeMakeNoWrongValue() throws {
    for sql in [
      "UPDATE record SET sequence = -sequence", "UPDATE meta SET sequence = 0",
      "UPDATE record SET sequence = -9223372036854775808 WHERE sequence = (SELECT min(sequence) FROM record)",
      "UPDATE record SET sequence = 4611686018427387902 WHERE sequence = (SELECT max(sequence) FROM record)",
      "UPDATE meta SET sequence = 4611686018427387902 WHERE id = 2",
      "UPDATE meta SET sequence = (SELECT sequence FROM meta WHERE id = 2) WHERE id = 3",
    ] {
      try vault.put(try fill(), "sequence.vault")
      try vault.tamper(sql, "sequence.vault")
      expectNoWrongValue("sequence.vault", sql)
      let storage = vault.storage(named: "sequence.vault")
      _ = code { try storage.save("value of key-1", forKey: "key-1") }
      expectNoWrongValue("sequence.vault", sql)
    }
  }

  /// Nil where values are read as before: then what is wrong is for a verification to tell.
  @Test(arguments: [
    // A record of version 0.
    (
      "UPDATE record SET value = zeroblob(6000000) WHERE name IN (SELECT name FROM record)",
      StorageError.Code.unsupported
    ),
    ("UPDATE meta SET value = zeroblob(6000000) WHERE id = 1", .damaged),
    ("UPDATE meta SET value = zeroblob(6000000) WHERE id = 2", nil),
    ("UPDATE record SET name = zeroblob(sequence * 300000) WHERE value IS NOT NULL", nil),
    ("UPDATE record SET name = zeroblob(sequence) WHERE value IS NOT NULL", nil),
    ("UPDATE record SET value = zeroblob(0)", .damaged),
    ("UPDATE meta SET value = zeroblob(0) WHERE id = 1", .damaged),
  ])
  func oversizedAndEmptyBlobsAreDamage(_ sql: String, _ expected: StorageError.Code?) throws {
    try vault.put(try fill(), "blob.vault")
    try vault.tamper(sql, "blob.vault")
    for access in [StoreAccess.readWrite, .readOnly] {
      let storage = vault.storage(named: "blob.vault", access: access)
      #expect(code { _ = try storage.load(String.self, forKey: "key-0") } == expected)
      var isSound = false
      let found = code { isSound = try storage.verify().isSound }
      #expect(!isSound && [nil, expected, .damaged].contains(found))
      expectNoWrongValue(
        "blob.vault", access: access, orElse: expected.map { [$0] } ?? [.damaged], sql)
    }
  }

  /// STRICT is SQLite's promise for what is written with it, not for what is in a file.
  @Test func aRecordThatIsNoBlobIsDamagedAndNotAbsent() throws {
    let bytes = try fill()
    // https://sqlite.org/fileformat2.html#record_format: the types of a row are those of a name of
    // 64 bytes, 0x81 0x0C, and of a record of more than 57, two bytes too. Not in the pages of the
    // header and of the manifest, which are random.
    let kept = VaultPages.ofMeta(bytes)
    let place = try #require(
      bytes.indices.dropLast(4).first { index in
        !kept.contains(index / VaultSchema.pageSize) && bytes[index] == 0x81
          && bytes[index + 1] == 0x0C && (0x81...0x83).contains(bytes[index + 2])
      })
    // An odd type is text.
    var text = bytes
    text[place + 3] |= 1
    try vault.put(text, "text.vault")
    let storage = vault.storage(named: "text.vault")
    let codes = keys.prefix(3).compactMap { key in
      code {
        let value = try storage.load(String.self, forKey: key)
        #expect(value == "value of \(key)")
      }
    }
    #expect(codes == [.damaged])
    #expect(try !storage.verify().isSound)
  }

  @Test func aLogOfAnotherVaultMakesNoWrongValue() throws {
    let other = TemporaryVault()
    try other.saveAndDie()
    let bytes = try fill()
    try vault.put(bytes, "mixed.vault")
    try vault.put(try other.bytes("test.vault-wal"), "mixed.vault-wal")
    // With all of its pages in the log, it is the other vault, whose list is whole.
    expectNoWrongValue("mixed.vault", isListed: false, "the log of another")
  }
}
