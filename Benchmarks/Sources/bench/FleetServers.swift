import EtcdBackend
import Foundation
import Glibc

/// Servers of one engine on this machine, with their data on its disk.
protocol FleetServers: AnyObject {
  /// What people call the engine.
  static var engine: String { get }
  /// The wrapper whose calls are measured.
  static var wrapper: String { get }
  /// What the bare client makes.
  static var bareWrite: String { get }
  /// How many writes a second are enough for eight threads, whatever the bare client makes; nil for none.
  static var enoughWrites: Double? { get }
  /// The most seconds that 100,000 values may take.
  static var readyLimit: Double { get }

  /// A store; another process finds it by the same texts.
  static func storage(_ address: String, _ name: String) -> RemoteStorage

  init() throws
  /// How programs find the servers.
  var address: String { get }
  /// Connections without the library, for so many threads.
  func bareClient(threads: Int) throws -> any BareClient
}

extension FleetServers {
  func storage(_ name: String) -> RemoteStorage { Self.storage(address, name) }
}

/// Connections to an engine without the library.
protocol BareClient: Sendable {
  /// Puts the row of a thread, again and again.
  func put(thread: Int, _ rounds: Int) throws
}

/// What the engines' benchmarks have in common.
enum Fleet {
  /// About as long as the sealed record of a token of 32 bytes.
  static let recordSize = 176
  static let token = String(repeating: "t", count: 32)
  static let many = 100_000
  static var key: KeySource { .key(SymmetricKey(data: [UInt8](repeating: 7, count: 32))) }

  struct WrongValue: Error {}

  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  /// Waits until servers answer.
  static func wait(for engine: String, _ isReady: () throws -> Bool) throws {
    let start = Clock.wall.nanoseconds
    while Clock.wall.nanoseconds - start < 60e9 {
      if try isReady() { return }
      usleep(50_000)
    }
    throw Failed(description: "\(engine) did not start within 60 s")
  }

  /// Ports that nobody had a moment ago.
  static func freePorts(_ count: Int) throws -> [Int] {
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
