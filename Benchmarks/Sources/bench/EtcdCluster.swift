import CEtcd
import EtcdBackend
import Foundation
import Glibc

/// Three members of etcd.
final class EtcdCluster: FleetServers {
  static let engine = "etcd"
  static let wrapper = "@Etcd"
  static let bareWrite = "bare transaction of etcd"
  static let enoughWrites: Double? = nil
  static let readyLimit = 1.5

  private var processes: [Process] = []
  private let folder: URL
  private let ports: [Int]

  init() throws {
    try Disk.check()
    folder = URL(filePath: Disk.folder).appending(path: "etcd")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let all = try Fleet.freePorts(6)
    ports = Array(all.prefix(3))
    let peers = (0..<3).map { "m\($0)=http://127.0.0.1:\(all[3 + $0])" }.joined(separator: ",")
    for index in 0..<3 {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      let client = "http://127.0.0.1:\(ports[index])"
      let peer = "http://127.0.0.1:\(all[3 + index])"
      process.arguments = [
        "etcd", "--name", "m\(index)", "--data-dir", folder.appending(path: "m\(index)").path,
        "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls",
        peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", peers, "--log-level",
        "error",
      ]
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      processes.append(process)
    }
    try waitForLeader()
  }

  deinit {
    for process in processes { process.terminate() }
    for process in processes { process.waitUntilExit() }
    try? FileManager.default.removeItem(at: folder)
  }

  var address: String { ports.map { "http://127.0.0.1:\($0)" }.joined(separator: ",") }

  static func storage(_ address: String, _ name: String) -> RemoteStorage { store(address, name) }

  private static func store(_ address: String, _ name: String) -> EtcdStorage {
    EtcdStorage(
      endpoints: address.split(separator: ",").map(String.init), prefix: "/\(name)",
      keySource: Fleet.key)
  }

  private func waitForLeader() throws {
    let storage = Self.store(address, "bench")
    try Fleet.wait(for: "etcd") {
      try storage.members().allSatisfy { $0.failure == nil && $0.hasLeader }
    }
  }

  /// One channel, which all threads use.
  @safe
  private final class Bare: BareClient, @unchecked Sendable {
    // gRPC's channels may be used by any thread.
    private let peer: OpaquePointer

    init(_ port: Int) throws {
      guard let peer = unsafe etcd_peer_open("dns:///127.0.0.1:\(port)") else {
        throw Fleet.Failed(description: "there is no bare connection to etcd")
      }
      unsafe self.peer = unsafe peer
    }

    deinit { unsafe etcd_peer_close(peer) }

    func put(thread: Int, _ rounds: Int) throws {
      for _ in 0..<rounds {
        guard unsafe etcd_peer_put(peer, "/bare/\(thread)", Fleet.recordSize) == 0 else {
          throw Fleet.Failed(description: "the bare transaction was refused")
        }
      }
    }
  }

  func bareClient(threads _: Int) throws -> any BareClient { try Bare(ports[0]) }
}
