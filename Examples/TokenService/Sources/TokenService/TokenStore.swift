import StorageCore

/// Issues, checks and revokes API tokens.
protocol Tokens: Sendable {
  /// Issues a token to the named holder; the token is durable when this returns.
  func issue(to name: String) async throws -> String
  /// The name that a token was issued to, or nil for an invalid token.
  func holder(of token: String) throws -> String?
  /// Revokes a token by its id, which is the part before the dot.
  func withdraw(_ id: String) async throws -> Bool
  /// How many tokens there are.
  func count() async throws -> Int
}

/// Sealed tokens in a storage: the value of `token.<id>` is the secret, a space, and the holder.
struct StoredTokens: Tokens {
  private static let idLength = 16
  private static let secretLength = 64
  let storage: any Storage

  func issue(to name: String) async throws -> String {
    let (id, secret) = (Self.random(Self.idLength), Self.random(Self.secretLength))
    // One value, so there is never a token without a holder.
    try await storage.saveAsync("\(secret) \(name)", forKey: "token.\(id)")
    return "\(id).\(secret)"
  }

  // Synchronous: a vault answers from memory, and sees earlier writes of every process on this
  // machine.
  func holder(of token: String) throws -> String? {
    let parts = token.utf8
    guard parts.count == Self.idLength + 1 + Self.secretLength,
      let dot = parts.firstIndex(of: UInt8(ascii: ".")),
      parts.distance(from: parts.startIndex, to: dot) == Self.idLength,
      let stored = try storage.load(String.self, forKey: "token.\(token[..<dot])"),
      Self.isEqual(parts[parts.index(after: dot)...], stored.utf8.prefix(Self.secretLength))
    else { return nil }
    return String(stored.utf8.dropFirst(Self.secretLength + 1))
  }

  func withdraw(_ id: String) async throws -> Bool {
    guard id.utf8.count == Self.idLength else { return false }
    return try await storage.async { storage in
      try storage.transaction { transaction in
        guard try transaction.contains("token.\(id)") else { return false }
        try transaction.delete(forKey: "token.\(id)")
        return true
      }
    }
  }

  func count() async throws -> Int {
    try await storage.async { try $0.keys() }.count { $0.hasPrefix("token.") }
  }

  private static func random(_ count: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    let digits = Array("0123456789abcdef")
    return String((0..<count).map { _ in digits[Int.random(in: 0..<16, using: &generator)] })
  }

  /// Compares in constant time, so that the time does not reveal where the two differ.
  private static func isEqual(_ left: Substring.UTF8View, _ right: Substring.UTF8View) -> Bool {
    let (left, right) = (Array(left), Array(right))
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
  }
}
