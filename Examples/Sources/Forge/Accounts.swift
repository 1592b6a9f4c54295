import SecurePropertyStorage

/// An account of the user at one host, without its token.
struct Account: Codable, Equatable {
  var user: String
  var scopes: [String] = []
}

/// Who is logged in where: the accounts in one value, and the token of each host in its own.
struct Accounts {
  @UnwrappedCodableVault("accounts") private var accounts: [String: Account] = [:]
  private let vault = VaultStorage.standard

  /// The hosts with their accounts, sorted.
  func all() throws(StorageError) -> [(host: String, account: Account)] {
    try $accounts.load().sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Keeps an account and its token, both or neither.
  func logIn(_ host: String, _ account: Account, token: String) throws {
    try vault.transaction { step in
      var all = try step.load(decodable: [String: Account].self, forKey: $accounts.key) ?? [:]
      all[host] = account
      try step.save(encodable: all, forKey: $accounts.key)
      try step.save(token, forKey: Self.tokenKey(host))
    }
  }

  /// Forgets an account and its token.
  ///
  /// - Returns: whether there was one.
  func logOut(_ host: String) throws -> Bool {
    try vault.transaction { step in
      var all = try step.load(decodable: [String: Account].self, forKey: $accounts.key) ?? [:]
      let isThere = all.removeValue(forKey: host) != nil
      try step.save(encodable: all, forKey: $accounts.key)
      try step.delete(forKey: Self.tokenKey(host))
      return isThere
    }
  }

  /// The token for a host; nil when nobody is logged in there.
  func token(_ host: String) throws(StorageError) -> String? {
    try vault.load(String.self, forKey: Self.tokenKey(host))
  }

  private static func tokenKey(_ host: String) -> String { "token/" + host }
}
