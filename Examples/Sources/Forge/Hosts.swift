import VaultBackend

/// Who is signed in at a host.
struct Login: Codable, Equatable, Sendable {
  var user: String
  var token: String
}

/// The logins of the tool, sealed in a vault; several runs of the tool may change them at once.
struct Hosts: Sendable {
  @UnwrappedCodableVault("hosts") private var logins: [String: Login] = [:]

  func login(at host: String) throws(StorageError) -> Login? { try $logins.load()[host] }

  func all() throws(StorageError) -> [String: Login] { try $logins.load() }

  /// Replaces the login at a host; the logins at other hosts stay, also those that another process
  /// adds now.
  func signIn(_ login: Login, at host: String) throws {
    try $logins.update { $0[host] = login }
  }

  /// Returns whether somebody was signed in.
  func signOut(of host: String) throws -> Bool {
    guard try login(at: host) != nil else { return false }
    return try $logins.update { $0.removeValue(forKey: host) != nil }
  }
}
