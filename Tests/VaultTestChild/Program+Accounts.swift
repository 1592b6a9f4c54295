import Foundation
import StorageCore

/// Amounts that are moved between keys, whose sum is what it was as long as nothing is half done.
extension Program {
  static let accounts = (0..<4).map { "account \($0)" }

  /// What is done with the accounts, or nil for a command that is another's.
  func account(_ command: String, _ rest: [String]) throws -> String? {
    switch command {
    case "sum": return "\(try sum())"
    case "transfer":  // WRITER STEP, once
      try transfer(Int(rest[0])!, Int(rest[1])!)
      return "transferred"
    case "die-in-transaction":  // of two keys, before its body has ended
      try storage.transaction { transaction in
        for key in Self.accounts.prefix(2) {
          try transaction.update(Int.self, forKey: key) { $0 = ($0 ?? 0) + 1_000 }
        }
        kill(getpid(), SIGKILL)
      }
      return "alive"
    default: return nil
    }
  }

  /// Moves amounts until it is killed, and says which step is done.
  func transferOn(_ writer: Int, from first: Int) {
    say("ready")
    for step in first... {
      do {
        try transfer(writer, step)
        say("\(step)")
      } catch {
        say("error \(error)")
        // Whoever kills it needs some time.
        sleep(1)
      }
    }
  }

  private func transfer(_ writer: Int, _ step: Int) throws {
    let count = Self.accounts.count
    let from = Self.accounts[(step + writer) % count]
    let to = Self.accounts[(step + writer + 1 + step / count % (count - 1)) % count]
    try storage.transaction { transaction in
      try transaction.update(Int.self, forKey: from) { $0 = ($0 ?? 0) - step }
      try transaction.update(Int.self, forKey: to) { $0 = ($0 ?? 0) + step }
      // What else belongs to the step is there if and only if the amount was moved.
      try transaction.save(step, forKey: "writer \(writer) last")
      try transaction.update(Int.self, forKey: "writer \(writer) moved") { $0 = ($0 ?? 0) + step }
    }
  }

  /// The sum of all accounts at one moment.
  private func sum() throws -> Int {
    try storage.transaction { transaction in
      try Self.accounts.reduce(0) { $0 + (try transaction.load(Int.self, forKey: $1) ?? 0) }
    }
  }
}
