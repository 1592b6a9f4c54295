import CPostgresPeer
import Foundation
import Glibc
import PostgresBackend

/// One server of PostgreSQL with its own settings, so each commit is on the disk.
final class PostgresServer: FleetServers {
  static let engine = "PostgreSQL"
  static let wrapper = "@Postgres"
  static let bareWrite = "bare prepared statement of PostgreSQL"
  static let enoughWrites: Double? = 1_500
  static let readyLimit = 1.0

  private let folder: URL
  private let process: Process
  let address: String

  init() throws {
    try Disk.check()
    let programs = "/usr/lib/postgresql"
    let versions = try FileManager.default.contentsOfDirectory(atPath: programs)
    guard let version = versions.compactMap({ Int($0) }).max() else {
      throw Fleet.Failed(description: "there is no PostgreSQL in \(programs)")
    }
    // Where PostgreSQL's user gets, too: it refuses to be run by root.
    folder = FileManager.default.temporaryDirectory.appending(path: "bench-postgresql")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let user =
      getuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : []
    if getuid() == 0 { try Self.start(["chown", "postgres:", folder.path]).waitUntilExit() }
    let data = folder.appending(path: "data").path
    let bin = "\(programs)/\(version)/bin"
    try Self.start(user + ["\(bin)/initdb", "-D", data, "-A", "trust", "-U", "bench"])
      .waitUntilExit()
    let port = try Fleet.freePorts(1)[0]
    process = try Self.start(
      user + [
        "\(bin)/postgres", "-D", data, "-p", "\(port)", "-h", "127.0.0.1", "-k", folder.path,
      ])
    address = "host=127.0.0.1 port=\(port) user=bench dbname=postgres"
    let storage = Self.store(address, "bench")
    try Fleet.wait(for: "PostgreSQL") { try storage.servers().allSatisfy { $0.failure == nil } }
    try Self.start(["\(bin)/psql", "-q", "-d", address, "-c", PostgresSchema.migration()])
      .waitUntilExit()
  }

  deinit {
    process.interrupt()
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }

  private static func start(_ arguments: [String]) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  static func storage(_ address: String, _ name: String) -> RemoteStorage { store(address, name) }

  private static func store(_ address: String, _ name: String) -> PostgresStorage {
    PostgresStorage(address, store: name, keySource: Fleet.key)
  }

  /// A connection for each thread.
  @safe
  private final class Bare: BareClient, @unchecked Sendable {
    // Each thread uses its own.
    private let peers: [OpaquePointer]

    init(_ address: String, threads: Int) throws {
      unsafe peers = try (0..<threads).map { _ in
        guard let peer = unsafe postgres_peer_open(address) else {
          throw Fleet.Failed(description: "there is no bare connection to PostgreSQL")
        }
        return unsafe peer
      }
    }

    deinit { for index in unsafe peers.indices { unsafe postgres_peer_close(peers[index]) } }

    func put(thread: Int, _ rounds: Int) throws {
      for _ in 0..<rounds {
        guard unsafe postgres_peer_put(peers[thread], "\(thread)", Fleet.recordSize) == 0 else {
          throw Fleet.Failed(description: "the bare statement was refused")
        }
      }
    }
  }

  func bareClient(threads: Int) throws -> any BareClient { try Bare(address, threads: threads) }
}
