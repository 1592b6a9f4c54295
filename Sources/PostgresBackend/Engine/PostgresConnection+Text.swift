internal import CPostgres
internal import StorageCore

// What libpq makes of the text of a connection; nothing is connected to.
extension PostgresConnection {
  /// What libpq's options say, and whether secrets are among them, which are wiped; frees the options.
  private static func take(
    _ options: UnsafeMutablePointer<PQconninfoOption>
  ) -> (values: [String: String], hasSecrets: Bool) {
    defer { unsafe sps_PQconninfoFree(options) }
    var (values, hasSecrets) = ([String: String](), false)
    var option = unsafe options
    while let keyword = unsafe option.pointee.keyword {
      if let value = unsafe option.pointee.val {
        // PQconninfo(3): "*" is a value that is not shown.
        if unsafe SystemText.shown(option.pointee.dispchar) == "*" {
          hasSecrets = true
          unsafe wipe(value)
        } else {
          values[unsafe SystemText.shown(keyword)] = unsafe SystemText.shown(value)
        }
      }
      unsafe option += 1
    }
    return (values, hasSecrets)
  }

  /// Loads libpq, with which no program is linked.
  private static func load() throws(StorageError) {
    var reason = [CChar](repeating: 0, count: 512)
    guard unsafe sps_pq_load(&reason, reason.count) == 0 else { return }
    throw StorageError(
      .unsupported,
      "stores in PostgreSQL need its C library, libpq.so.5: install the package libpq5 "
        + "(\(unsafe SystemText.shown(reason)))")
  }

  /// The hosts of settings, with their addresses and ports, and the database.
  ///
  /// - Throws: `invalid` for settings that libpq does not understand, `unsupported` without libpq.
  static func hosts(
    of settings: [(String, String)]
  ) throws(StorageError) -> (hosts: [[(String, String)]], database: String) {
    try load()
    guard !settings.contains(where: { hasBarePassword($0.1) }) else {
      throw StorageError(
        .invalid,
        "the password in the connection's URL has characters that end it there; write them as %2F for /, "
          + "%40 for @")
    }
    // libpq takes all its places together before it refuses this value.
    guard
      let probe = unsafe start(settings + [("target_session_attrs", "none")]),
      let options = unsafe sps_PQconninfo(probe)
    else { throw StorageError(.io, "there is no memory for a connection") }
    defer { unsafe sps_PQfinish(probe) }
    let found = unsafe take(options).values
    let message = unsafe SystemText.shown(sps_PQerrorMessage(probe))
    guard message.contains("target_session_attrs") else {
      throw PostgresFailure.ofSettings(message)
    }
    func list(_ keyword: String) -> [String] {
      let value = found[keyword] ?? ""
      return value.isEmpty
        ? [] : value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
    let (names, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
    let hosts = (0..<max(names.count, addresses.count, 1)).map { index in
      var host: [(String, String)] = []
      if !names.isEmpty { host.append(("host", names[index])) }
      if !addresses.isEmpty { host.append(("hostaddr", addresses[index])) }
      if !ports.isEmpty { host.append(("port", ports.count == 1 ? ports[0] : ports[index])) }
      return host
    }
    return (hosts, found["dbname"] ?? "")
  }

  /// Whether libpq would take a part of the password for a host, a port or a database, which errors show:
  /// at the first `/` or `@` the password of a URL ends.
  private static func hasBarePassword(_ text: String) -> Bool {
    guard let url = text.wholeMatch(of: /postgres(?:ql)?:\/\/([^?]*).*/.dotMatchesNewlines()) else {
      return false
    }
    let parts = url.1.split(separator: "@", omittingEmptySubsequences: false)
    return parts.count > 2 || parts.count == 2 && parts[0].contains("/")
  }

  /// Whether a text of settings holds a secret.
  ///
  /// - Throws: `unsupported` without libpq.
  static func namesPassword(_ text: String) throws(StorageError) -> Bool {
    try load()
    guard !hasBarePassword(text) else { return true }
    // The name of a database alone is no such text.
    guard let options = unsafe sps_PQconninfoParse(text, nil) else { return false }
    return unsafe take(options).hasSecrets
  }
}
