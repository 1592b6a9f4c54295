import EtcdBackend
import Foundation
import Glibc

/// Three members of etcd on this machine, with their data on its disk.
final class EtcdCluster {
  private var processes: [Process] = []
  private let folder: URL
  private let ports: [Int]

  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  init() throws {
    try Disk.check()
    folder = URL(filePath: Disk.folder).appending(path: "etcd")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // Ports that nobody had a moment ago.
    let all = try Self.freePorts(6)
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

  var endpoints: [String] { ports.map { "http://127.0.0.1:\($0)" } }

  func storage(_ prefix: String = "/bench") -> EtcdStorage {
    Self.storage(endpoints, prefix)
  }

  static func storage(_ endpoints: [String], _ prefix: String) -> EtcdStorage {
    EtcdStorage(
      endpoints: endpoints, prefix: prefix,
      keySource: .key(SymmetricKey(data: [UInt8](repeating: 7, count: 32))))
  }

  private func waitForLeader() throws {
    let start = Clock.wall.nanoseconds
    while Clock.wall.nanoseconds - start < 60e9 {
      let members = try storage().members()
      if members.allSatisfy({ $0.failure == nil && $0.hasLeader }) { return }
      usleep(50_000)
    }
    throw Failed(description: "etcd did not start within 60 s")
  }

  private static func freePorts(_ count: Int) throws -> [Int] {
    var (sockets, ports): ([Int32], [Int]) = ([], [])
    defer { for socket in sockets { close(socket) } }
    for _ in 0..<count {
      let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      sockets.append(socket)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
          unsafe bind(socket, pointer, size) == 0 && getsockname(socket, pointer, &size) == 0
        }
      }
      guard isBound else { throw Failed(description: "there is no free port") }
      ports.append(Int(UInt16(bigEndian: address.sin_port)))
    }
    return ports
  }
}
