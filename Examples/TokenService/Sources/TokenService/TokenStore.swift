import Foundation
import StorageCore

/// Issues, checks and withdraws API tokens.
protocol Tokens: Sendable {
  /// A new token for somebody; it is durable when this returns.
  func issue(to name: String) async throws -> String
  /// The name that a token was issued to, or nil for one that is not valid.
  func holder(of token: String) throws -> String?
  /// Withdraws a token by its id, which is the part before the dot.
  func withdraw(_ id: String) async throws -> Bool
  /// How many tokens there are.
  func count() async throws -> Int
}

/// Tokens in a storage, sealed: `token.<id>` has the secret, `holder.<id>` whose it is.
struct StoredTokens: Tokens {
  let storage: any Storage

  func issue(to name: String) async throws -> String {
    let (id, secret) = (Self.random(8), Self.random(32))
    // One commit: there is never a token without a holder.
    try await storage.saveAllAsync([
      "token.\(id.hexadecimal)": Data(secret), "holder.\(id.hexadecimal)": name,
    ])
    return "\(id.hexadecimal).\(secret.hexadecimal)"
  }

  // Synchronous: a vault answers from memory, and sees what any process of this machine wrote before.
  func holder(of token: String) throws -> String? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].count == 16, let given = [UInt8](hexadecimal: parts[1]),
      let secret = try storage.load(Data.self, forKey: "token.\(parts[0])"),
      Self.isEqual(given, Array(secret))
    else { return nil }
    return try storage.load(String.self, forKey: "holder.\(parts[0])")
  }

  func withdraw(_ id: String) async throws -> Bool {
    guard id.count == 16 else { return false }
    return try await storage.transactionAsync { transaction in
      guard try transaction.contains("token.\(id)") else { return false }
      try transaction.delete(forKey: "token.\(id)")
      try transaction.delete(forKey: "holder.\(id)")
      return true
    }
  }

  func count() async throws -> Int {
    try await storage.keysAsync().count { $0.hasPrefix("token.") }
  }

  private static func random(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  /// Compares in a time that tells nothing of where the two differ.
  private static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension [UInt8] {
  var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }

  init?(hexadecimal text: Substring) {
    let digits = text.utf8.map { digit -> UInt8? in
      switch digit {
      case 48...57: digit - 48
      case 97...102: digit - 87
      default: nil
      }
    }
    guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
    self = stride(from: 0, to: digits.count, by: 2).map { digits[$0]! << 4 | digits[$0 + 1]! }
  }
}
