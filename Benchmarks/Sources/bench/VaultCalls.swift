import CPeers
import Foundation
import SingletonBackend
import StorageCore
import VaultBackend

/// Reads and writes of the vault, beside bare SQLite, SQLCipher and bare files.
enum VaultCalls {
  struct Session {
    @Vault("username") var token: String?
    @Singleton("username") var volatile: String?
  }

  struct WrongValue: Error {}

  private static let token = String(repeating: "t", count: 32)
  /// How many rows there are in each database but for the large ones.
  private static let rows = 1000

  static func comparisons() throws -> [Comparison] {
    try Disk.check()
    try VaultStorage.standard.transaction { transaction in
      for row in 0..<rows { try transaction.save(token, forKey: "row-\(row)") }
    }
    let session = Session()
    session.token = token
    session.volatile = token
    let sqlite = try Peer(sqliteIn: Disk.folder, rows: rows, peer_vault_tables)
    let cipher = try Peer(cipherIn: Disk.folder, rows: rows)
    let files = try BareFiles()
    return try reads(session, sqlite, cipher, files) + writes(session, sqlite, cipher, files)
      + entries()
  }

  /// Vaults of a thousand and of a million entries, made when they are needed.
  private final class Sizes {
    lazy var small = warm(1_000)
    lazy var large = warm(1_000_000)

    private func warm(_ count: Int) -> Swift.Result<Entries, any Error> {
      Swift.Result {
        let entries = try Entries(count)
        try entries.readAll()
        return entries
      }
    }
  }

  private static func entries() -> [Comparison] {
    let sizes = Sizes()
    return [
      Comparison(
        "read any of 1,000,000 entries", against: "any of 1,000", in: .vault, target: 1.5,
        floor: { rounds in try sizes.small.get().readAnywhere(rounds) },
        ours: { rounds in try sizes.large.get().readAnywhere(rounds) })
    ]
  }

  private static func read(_ session: Session, _ rounds: Int) throws {
    var count = 0
    for _ in 0..<rounds { count &+= session.token?.utf8.count ?? 0 }
    guard count == rounds * 32 else { throw WrongValue() }
  }

  private static func reads(
    _ session: Session, _ sqlite: Peer, _ cipher: Peer, _ files: BareFiles
  ) -> [Comparison] {
    func volatile(_ rounds: Int) throws {
      var count = 0
      for _ in 0..<rounds { count &+= session.volatile?.utf8.count ?? 0 }
      guard count == rounds * 32 else { throw WrongValue() }
    }
    func ours(_ rounds: Int) throws { try read(session, rounds) }
    return [
      Comparison(
        "@Vault String: read", against: "@Singleton read", in: .vault, target: 1.5, floor: volatile,
        ours: ours),
      Comparison(
        "@Vault String: read, others written", against: "@Singleton read", in: .vault, target: 1.5,
        company: Neighbour.init, floor: volatile, ours: ours),
      Comparison(
        "@Vault String: read", against: "SQLCipher point read", in: .vault, target: 0.25,
        floor: cipher.read, ours: ours),
      Comparison(
        "@Vault String: read, others written", against: "SQLCipher point read", in: .vault,
        target: 0.25,
        company: Neighbour.init, floor: cipher.read, ours: ours),
      Comparison(
        "@Vault String: read", against: "bare SQLite point read", in: .vault, floor: sqlite.read,
        ours: ours),
      Comparison(
        "@Vault String: read", against: "open, read, close", in: .vault, floor: files.read,
        ours: ours),
    ]
  }

  private static func writes(
    _ session: Session, _ sqlite: Peer, _ cipher: Peer, _ files: BareFiles
  ) throws -> [Comparison] {
    func write(_ rounds: Int) throws {
      for _ in 0..<rounds { try session.$token.save(token) }
    }
    let plain = try Peer(sqliteIn: Disk.folder, rows: rows, peer_plain_table)
    let pages = try Peer(sqliteIn: Disk.folder, rows: rows, peer_vault_pages)
    let tree = try Peer(sqliteIn: Disk.folder, rows: rows, peer_one_tree)
    let stores = (0..<rows).map { Vault<String>(.standard, "row-\($0)") }
    func writeInTurn(_ rounds: Int) throws {
      for round in 0..<rounds { try stores[round % stores.count].save(token) }
    }
    func writeAll(_ rounds: Int) throws {
      for _ in 0..<rounds {
        try VaultStorage.standard.transaction { transaction in
          for row in 0..<rows { try transaction.save(token, forKey: "row-\(row)") }
        }
      }
    }
    func durable(
      _ name: String, _ floorName: String, _ target: Double?,
      _ floor: @escaping (Int) throws -> Void,
      _ ours: @escaping (Int) throws -> Void
    ) -> Comparison {
      Comparison(
        name, against: floorName, in: .vault, target: target, clock: .wall, batch: 5e6,
        floor: floor, ours: ours
      )
    }
    let one = "@Vault String: durable write"
    let turn = "@Vault String: durable writes in turn"
    let many = "1,000 writes in one transaction"
    return [
      durable(one, "bare SQLite, two rows", 1.15, sqlite.write, write),
      durable(one, "SQLCipher, two rows", 1.1, cipher.write, write),
      durable(one, "bare SQLite, two rows, 2 KiB pages", nil, pages.write, write),
      durable(one, "bare SQLite, a plain table", nil, plain.write, write),
      durable(one, "bare SQLite, WITHOUT ROWID", nil, tree.write, write),
      durable(one, "fsync, rename, fsync", nil, files.write, write),
      Comparison(
        one + ", processor time", against: "bare SQLite", in: .vault, floor: sqlite.write,
        ours: write),
      durable(turn, "bare SQLite, two rows", nil, sqlite.writeInTurn, writeInTurn),
      durable(many, "bare SQLite's", 2, sqlite.writeAll, writeAll),
      durable(many, "bare SQLite's, 2 KiB pages", nil, pages.writeAll, writeAll),
      durable(many, "bare SQLite, a plain table", nil, plain.writeAll, writeAll),
      durable(many, "bare SQLite, WITHOUT ROWID", nil, tree.writeAll, writeAll),
      Comparison(
        many + ", processor time", against: "bare SQLite's", in: .vault, floor: sqlite.writeAll,
        ours: writeAll),
      Comparison(
        "8 threads: durable write", against: "1 thread", in: .vault, target: 1.0 / 3, clock: .wall,
        batch: 1e8, floor: write, ours: { rounds in try inThreads(8, rounds) }),
    ]
  }

  /// Has threads write, each its own key, `rounds` times together.
  private static func inThreads(_ threads: Int, _ rounds: Int) throws {
    let group = DispatchGroup()
    for thread in 0..<threads {
      let property = Vault<String>(.standard, "row-\(thread)")
      let calls = (rounds + thread) / threads
      group.enter()
      Thread.detachNewThread {
        for _ in 0..<calls { property.wrappedValue = token }
        group.leave()
      }
    }
    group.wait()
  }
}
