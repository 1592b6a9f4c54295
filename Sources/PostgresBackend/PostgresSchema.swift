/// The tables in which stores are, and who may use them.
public enum PostgresSchema: Sendable {
  /// The version of the tables that this program knows.
  static let version = 1

  /// The SQL that makes the tables, their functions and two roles; whoever runs it owns them.
  ///
  /// It can be run again, and must be after a dump was restored on another server. A program needs
  /// membership in the role `SCHEMA_writer`, or in `SCHEMA_reader` if it only reads:
  ///
  ///     GRANT securestore_writer TO shop;
  ///
  /// - Parameter schema: the name of the schema.
  /// - Returns: the SQL, as one transaction.
  public static func migration(schema: String = "securestore") -> String {
    "BEGIN;\n\(body(schema))COMMIT;\n"
  }

  /// The same as one statement.
  static func statement(schema: String) -> String {
    "DO $migration$\nBEGIN\n\(body(schema))END\n$migration$"
  }

  private static func body(_ schema: String) -> String {
    let name = PostgresText.identifier(schema)
    let (writer, reader) = ("\(schema)_writer", "\(schema)_reader")
    let (writerName, readerName) = (
      PostgresText.identifier(writer), PostgresText.identifier(reader)
    )
    return """
      CREATE SCHEMA IF NOT EXISTS \(name);

      -- The version of these tables.
      CREATE TABLE IF NOT EXISTS \(name).schema_version (version integer NOT NULL);
      INSERT INTO \(name).schema_version
        SELECT \(version) WHERE NOT EXISTS (SELECT FROM \(name).schema_version);

      -- The rows of all stores. Without a value a row is removed, and kept for those who follow changes.
      -- The version is the transaction that wrote the row last.
      CREATE TABLE IF NOT EXISTS \(name).rows (
        store text COLLATE "C" NOT NULL,
        key bytea NOT NULL,
        value bytea,
        version xid8 NOT NULL,
        PRIMARY KEY (store, key)
      );
      ALTER TABLE \(name).rows ALTER value SET STORAGE EXTERNAL;
      CREATE INDEX IF NOT EXISTS rows_version ON \(name).rows (store, version);
      CREATE INDEX IF NOT EXISTS rows_removed ON \(name).rows (store, version) WHERE value IS NULL;
      -- Of a server that a dump came from; here they would be of the future. What others wrote since this
      -- transaction began is not.
      UPDATE \(name).rows SET version = pg_current_xact_id()
        WHERE version >= pg_snapshot_xmax(pg_current_snapshot());

      -- Writes rows if each has the version that is checked: 0 if there must be none, NULL if any will do.
      -- NULL if one has not; nothing was then done.
      CREATE OR REPLACE FUNCTION \(name).commit(
        of_store text, keys bytea[], checks xid8[], writes boolean[], new_values bytea[], lock_wait text
      ) RETURNS xid8 LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $commit$
      DECLARE
        own xid8 := pg_current_xact_id();
        old record;
        is_there boolean[];
      BEGIN
        PERFORM set_config('lock_timeout', lock_wait, true);
        -- All lock in the order of the keys, so nobody waits in a circle.
        FOR i IN 1 .. cardinality(keys) LOOP
          IF writes[i] THEN
            SELECT version, value IS NOT NULL AS is_set INTO old FROM \(name).rows
              WHERE store = of_store AND key = keys[i] FOR NO KEY UPDATE;
          ELSE
            SELECT version, value IS NOT NULL AS is_set INTO old FROM \(name).rows
              WHERE store = of_store AND key = keys[i] FOR SHARE;
          END IF;
          is_there[i] := FOUND;
          IF checks[i] <> (CASE WHEN FOUND AND old.is_set THEN old.version ELSE '0' END) THEN
            RETURN NULL;
          END IF;
          -- Versions only grow: a later transaction was faster, so this one is tried again.
          IF writes[i] AND FOUND AND old.version > own THEN
            RAISE serialization_failure;
          END IF;
        END LOOP;
        FOR i IN 1 .. cardinality(keys) LOOP
          IF NOT is_there[i] THEN
            -- Also where it is only checked that there is none, so that nobody else adds it meanwhile.
            INSERT INTO \(name).rows VALUES (of_store, keys[i], new_values[i], own);
          ELSIF writes[i] THEN
            UPDATE \(name).rows SET value = new_values[i], version = own
              WHERE store = of_store AND key = keys[i];
          ELSE
            CONTINUE;
          END IF;
          -- Somebody else's trigger or rule may drop a write, which then must not count as made.
          IF NOT FOUND THEN
            RAISE EXCEPTION 'a row was not written';
          END IF;
        END LOOP;
        RETURN own;
      END
      $commit$;

      -- Forgets removals before a version, once there are many, and notes that in the row without a key.
      CREATE OR REPLACE FUNCTION \(name).sweep(of_store text, before xid8)
        RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $sweep$
      BEGIN
        IF (SELECT count(*) FROM (
          SELECT FROM \(name).rows WHERE store = of_store AND value IS NULL AND version < before
            LIMIT 1000) AS removed) < 1000 THEN
          RETURN;
        END IF;
        INSERT INTO \(name).rows AS old
          VALUES (of_store, '', convert_to(before::text, 'UTF8'), pg_current_xact_id())
          ON CONFLICT (store, key) DO UPDATE SET value = excluded.value, version = excluded.version
          WHERE old.version < before;
        IF FOUND THEN
          DELETE FROM \(name).rows
            WHERE store = of_store AND value IS NULL AND version < before;
        END IF;
      END
      $sweep$;

      -- A role that reads, and one that also writes.
      DO $roles$
      BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = \(PostgresText.literal(reader))) THEN
          CREATE ROLE \(readerName) NOLOGIN;
        END IF;
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = \(PostgresText.literal(writer))) THEN
          CREATE ROLE \(writerName) NOLOGIN;
        END IF;
      END
      $roles$;
      GRANT USAGE ON SCHEMA \(name) TO \(readerName), \(writerName);
      GRANT SELECT ON \(name).schema_version, \(name).rows TO \(readerName), \(writerName);
      GRANT INSERT, UPDATE, DELETE ON \(name).rows TO \(writerName);
      REVOKE ALL ON FUNCTION \(name).commit, \(name).sweep FROM PUBLIC;
      GRANT EXECUTE ON FUNCTION \(name).commit, \(name).sweep TO \(writerName);

      """
  }
}
