internal import RemoteBackend
internal import StorageCore

/// The statements that are used, over the tables of ``PostgresSchema``.
///
/// None is prepared, and none needs a session's state, so they work through a pooler in transaction
/// mode. Rows are the columns key, value and version; one without a key tells the moment. Where a call
/// fits its function only after a conversion, it names the schema: whoever may create a function that
/// fits better, as everybody may in the schema `public` before PostgreSQL 15, would else be called.
struct PostgresStatements {
  /// The facts of a server before it was asked.
  static let noFacts = [String](repeating: "", count: 7)

  /// What makes a commit's worth: three facts.
  private static let settings =
    "current_setting('fsync'), current_setting('synchronous_commit'), "
    + "current_setting('synchronous_standby_names')"

  /// Lets a transaction hear the warning that its commit did not wait for the standbys, which a role with
  /// another `client_min_messages` is not told.
  private static let hearing = "set_config('client_min_messages', 'warning', true)"

  /// The facts of a server, the last one the number of its standbys; the name of a file of its log begins
  /// with the timeline.
  static let server =
    "SELECT current_setting('server_version'), pg_is_in_recovery()::text, CASE WHEN pg_is_in_recovery() "
    + "THEN (SELECT to_hex(timeline_id) FROM pg_control_checkpoint()) "
    + "ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END, \(settings), (SELECT count(*)::text FROM pg_stat_replication)"

  /// System identifier and table, version of the schema, and whether rows are of another server, behind
  /// which are the facts that decide what a commit is worth.
  let history: String
  /// Store and keys.
  let read: String
  /// Store.
  let list: String
  let listKeys: String
  /// Store and snapshot.
  let changes: String
  /// As the function has its parameters.
  let commit: String
  /// Store and version.
  let sweep: String
  /// Store.
  let notify: String
  let listen: String

  init(schema: String) {
    let name = PostgresText.identifier(schema)
    let rows = "\(name).rows"
    let channel = PostgresText.literal(schema)
    let latest = "SELECT version FROM \(rows) WHERE store = $1 ORDER BY version DESC LIMIT 1"
    // What is before all transactions that run: nothing at or before it can still come.
    let complete =
      "SELECT version FROM \(rows) WHERE store = $1 "
      + "AND version < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY version DESC LIMIT 1"
    // The message makes the commit of the question wait for the standbys: a primary that others have
    // replaced gets no answer from them. Without standbys it would prove nothing.
    let proof =
      "CASE WHEN current_setting('synchronous_standby_names') <> '' AND \(Self.hearing) <> '' "
      + "THEN pg_logical_emit_message(true, 'securestore', '') END"
    func moment(_ proof: String) -> String {
      "SELECT NULL::bytea, pg_catalog.convert_to(pg_catalog.concat_ws(' ', COALESCE((\(latest)), '0'), "
        + "pg_current_snapshot(), (SELECT pg_catalog.convert_from(value, 'UTF8') FROM \(rows) "
        + "WHERE store = $1 AND key = '')), 'UTF8'), "
        + "COALESCE((\(complete)), '0'), \(proof) UNION ALL "
    }
    func all(_ value: String) -> String {
      moment(proof) + "SELECT key, \(value), version, NULL FROM \(rows) WHERE store = $1 "
        + "AND (value IS NOT NULL OR version > COALESCE((\(complete)), '0'))"
    }
    history =
      "SELECT pg_catalog.concat((SELECT system_identifier FROM pg_control_system()), '.', "
      + "\(PostgresText.literal("\(name).rows"))::regclass::oid), "
      + "(SELECT version::text FROM \(name).schema_version), "
      + "(COALESCE((\(latest)), '0') >= pg_snapshot_xmax(pg_current_snapshot()))::text, "
      + Self.settings
    read =
      moment(proof)
      + "SELECT key, value, version, NULL FROM \(rows) WHERE store = $1 AND key = ANY ($2)"
    list = all("value")
    listKeys = all("CASE WHEN value IS NOT NULL THEN ''::bytea END")
    changes =
      moment("NULL::pg_lsn") + "SELECT key, value, version, NULL FROM \(rows) WHERE store = $1 "
      + "AND version >= pg_snapshot_xmin($2::text::pg_snapshot) "
      + "AND NOT pg_visible_in_snapshot(version, $2::text::pg_snapshot)"
    commit = "SELECT \(name).commit($1, $2, $3, $4, $5, $6), \(Self.hearing)"
    sweep = "SELECT \(name).sweep($1, $2)"
    // In a commit of its own, which waits for no disk and no standby: a notification holds a lock until
    // its commit is made.
    notify =
      "SELECT set_config('synchronous_commit', 'off', true), pg_notify(\(channel), $1)"
    listen = "LISTEN \(name)"
  }
}

/// What an answer tells of its moment.
struct PostgresMoment {
  /// Nothing of the store at or before this version can still come.
  let complete: Mark
  /// The latest version that there is.
  let latest: Mark
  /// What the server saw, to ask later what is new.
  let snapshot: String
  /// Removals before this version may be forgotten.
  let swept: Mark

  init?(_ fields: PostgresConnection.Fields) {
    let words = fields.text(1).split(separator: " ")
    guard words.count >= 2, let latest = Mark(words[0]) else { return nil }
    self.latest = latest
    snapshot = String(words[1])
    swept = words.count > 2 ? Mark(words[2]) ?? 0 : 0
    complete = fields.number(2)
  }
}
