import Foundation
import PostgresBackend
import RemoteTesting
import StorageTesting
import TestSupport
import Testing

/// What becomes of writes and reads while a database is not as it should be.
struct FaultTests {
  struct Fault: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// What the administrator has set for the role of the program.
    var setting: String?
    /// What somebody does in a transaction that stays open, or for all to see; and how that ends.
    var (held, changed, undo): (String?, String?, String)
    /// What a write, and a read that asks the server, end in; nil for success.
    let (write, read): (StorageError.Code?, StorageError.Code?)

    /// Somebody has a transaction open.
    static func held(
      _ name: String, _ sql: String, setting: String? = nil, write: StorageError.Code?,
      read: StorageError.Code?
    ) -> Fault {
      Fault(
        testDescription: name, setting: setting, held: sql, changed: nil, undo: "", write: write,
        read: read)
    }

    /// Somebody has changed something; `ROLE` is the program's role.
    static func changed(
      _ name: String, _ sql: String, undo: String = "", write: StorageError.Code?,
      read: StorageError.Code?
    ) -> Fault {
      Fault(
        testDescription: name, setting: nil, held: nil, changed: sql, undo: undo, write: write,
        read: read)
    }
  }

  private static let rows = "ALTER TABLE securestore.rows"
  static let faults: [Fault] = [
    .held(
      "a long transaction", "CREATE TABLE securestore.other (n integer)", write: nil, read: nil),
    .changed("VACUUM FULL", "VACUUM FULL securestore.rows", write: nil, read: nil),
    .held("locked rows", "SELECT FROM securestore.rows FOR UPDATE", write: .busy, read: nil),
    // As while VACUUM FULL runs.
    .held(
      "a table that is locked for all", "LOCK TABLE securestore.rows", write: .busy,
      read: .unavailable),
    .held(
      "a statement_timeout, and a locked table", "LOCK TABLE securestore.rows",
      setting: "statement_timeout = '200ms'", write: .timedOut, read: .timedOut),
    .changed(
      "rights to write taken away",
      "REVOKE securestore_writer FROM ROLE; GRANT securestore_reader TO ROLE",
      undo: "GRANT securestore_writer TO ROLE", write: .denied, read: nil),
    .changed(
      "all rights taken away", "REVOKE securestore_writer FROM ROLE",
      undo: "GRANT securestore_writer TO ROLE", write: .denied, read: .denied),
    .changed(
      "a column with another name", "\(rows) RENAME value TO content",
      undo: "\(rows) RENAME content TO value", write: .damaged, read: .damaged),
    .changed(
      "a column of another type", "\(rows) ALTER version TYPE text",
      undo: "\(rows) ALTER version TYPE xid8 USING version::xid8", write: .damaged, read: .damaged),
    .changed(
      "a constraint", "\(rows) ADD CONSTRAINT c CHECK (length(value) < 0) NOT VALID",
      undo: "\(rows) DROP CONSTRAINT c", write: .damaged, read: nil),
    .changed(
      "a trigger that drops writes",
      """
      CREATE FUNCTION securestore.drops() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER t BEFORE INSERT OR UPDATE ON securestore.rows
        FOR EACH ROW EXECUTE FUNCTION securestore.drops()
      """, undo: "DROP TRIGGER t ON securestore.rows", write: .damaged, read: nil),
    .changed(
      "a trigger that warns",
      """
      CREATE FUNCTION securestore.warns() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN RAISE WARNING ''written''; RETURN NEW; END';
      CREATE TRIGGER t BEFORE INSERT OR UPDATE ON securestore.rows
        FOR EACH ROW EXECUTE FUNCTION securestore.warns()
      """, undo: "DROP TRIGGER t ON securestore.rows", write: nil, read: nil),
    Fault(
      testDescription: "functions of another that would fit better",
      setting: "search_path = securestore", held: nil,
      changed: """
        CREATE FUNCTION securestore.concat_ws(text, xid8, pg_snapshot, text) RETURNS text
          LANGUAGE plpgsql AS 'BEGIN RAISE ''called''; END';
        CREATE FUNCTION securestore.convert_to(text, text) RETURNS bytea
          LANGUAGE plpgsql AS 'BEGIN RAISE ''called''; END';
        CREATE FUNCTION securestore.convert_from(bytea, text) RETURNS text
          LANGUAGE plpgsql AS 'BEGIN RAISE ''called''; END';
        CREATE FUNCTION securestore.joined(text, oid) RETURNS text
          LANGUAGE plpgsql AS 'BEGIN RAISE ''called''; END';
        CREATE OPERATOR securestore.|| (LEFTARG = text, RIGHTARG = oid, FUNCTION = securestore.joined)
        """, undo: "", write: nil, read: nil),
    .changed(
      "a table that is away", "\(rows) RENAME TO elsewhere",
      undo: "ALTER TABLE securestore.elsewhere RENAME TO rows", write: .unavailable,
      read: .unavailable),
    .changed(
      "a function that is away", "ALTER FUNCTION securestore.commit RENAME TO elsewhere",
      undo: "ALTER FUNCTION securestore.elsewhere RENAME TO commit", write: .damaged, read: nil),
  ]

  @Test(arguments: faults)
  func aFaultEndsInItsErrorInTimeAndNothingIsLostOrInvented(_ fault: Fault) throws {
    let tables = try SharedCluster.tables()
    let role = "program_of_\(tables.schema)"
    try tables.sql("CREATE ROLE \(role) LOGIN IN ROLE securestore_writer")
    if let setting = fault.setting { try tables.sql("ALTER ROLE \(role) SET \(setting)") }
    let deadline = Duration.seconds(3)
    let program = tables.storage(role: role, deadline: deadline)
    let exact = tables.storage(role: role, deadline: deadline, reading: .linearizable)
    try program.create()
    try program.save("before", forKey: "k")
    try program.save("before", forKey: "other")
    #expect(try exact.load(String.self, forKey: "k") == "before")

    let holder = try fault.held.map { try tables.hold($0) }
    if let changed = fault.changed { try tables.sql(changed.replacing("ROLE", with: role)) }
    let begin = ContinuousClock.now
    #expect(code { try program.save("after", forKey: "k") } == fault.write)
    let expected = fault.write == nil ? "after" : "before"
    var seen: String? = expected
    #expect(code { seen = try exact.load(String.self, forKey: "k") } == fault.read)
    #expect(seen == expected)
    #expect(ContinuousClock.now - begin < deadline * 2 + .seconds(2))
    #expect(try program.load(String.self, forKey: "k") == expected, "what is known is read on")

    holder?.release()
    if !fault.undo.isEmpty { try tables.sql(fault.undo.replacing("ROLE", with: role)) }
    for storage in [tables.storage(role: role, reading: .linearizable), exact] {
      #expect(try storage.load(String.self, forKey: "k") == expected)
      #expect(try Set(storage.keys()) == ["k", "other"])
    }
    try program.save("last", forKey: "k")
    #expect(try exact.load(String.self, forKey: "k") == "last")
    #expect(try program.load(String.self, forKey: "other") == "before")
  }
}
