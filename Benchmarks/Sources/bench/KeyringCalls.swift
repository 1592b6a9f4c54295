import CKeyring
import Foundation
import Glibc
import KeyringBackend
import KeyringTesting
import StorageCore

/// Reads of the keyring, beside bare libsecret and what people use without a library.
///
/// All of it against a real gnome-keyring-daemon on a private bus, in a collection without a
/// password.
enum KeyringCalls {
  private static let service = "benchmark"
  private static let value = String(repeating: "k", count: 32)
  /// As long as the item of a `String` of 32 bytes, and about as long as a header.
  private static let sizes = (record: 146, header: 480)

  static func comparisons(_ isChosen: (String) -> Bool) throws -> [Comparison] {
    guard isChosen(name(of: 10)) || isChosen(name(of: 10_000)) else { return [] }
    let bus = try PrivateBus()
    let daemon = try GnomeKeyring(on: bus)
    // libsecret asks the environment once, at its first call.
    for (name, value) in daemon.environment where name.hasPrefix("DBUS") {
      unsafe setenv(name, value, 1)
    }
    let peer = Floor(keeping: daemon)
    // It may take the daemon a while to write 10,000 items once more for each that is stored.
    let storage = KeychainStorage(service: service, access: KeyringAccess(deadline: .seconds(60)))
    var comparisons: [Comparison] = []
    for count in [10, 10_000] where isChosen(name(of: count)) {
      let fill = Fill {
        try peer.start(with: count)
        try storage.save(value, forKey: "token")
      }
      comparisons += reads(count, fill, storage, peer)
    }
    return comparisons
  }

  private static func name(of items: Int) -> String { "@Keychain String: read, \(items) items" }

  private static func reads(
    _ count: Int, _ fill: Fill, _ storage: KeychainStorage, _ peer: Floor
  ) -> [Comparison] {
    let ours: (Int) throws -> Void = { rounds in
      try fill.once()
      for _ in 0..<rounds {
        guard try storage.load(String.self, forKey: "token") == value else { throw WrongValue() }
      }
    }
    func comparison(
      _ floorName: String, target: Double? = nil, _ floor: @escaping (Int) throws -> Void
    ) -> Comparison {
      Comparison(
        name(of: count), against: floorName, in: .keyring, target: target, clock: .wall,
        batch: 2e7,
        floor: { rounds in
          try fill.once()
          try floor(rounds)
        }, ours: ours)
    }
    // What a second read of ours calls is the second of the two.
    var comparisons = [
      comparison("libsecret in C: search, both secrets", target: 1.1, peer.read),
      comparison("libsecret in C: both secrets, paths known", target: 1.1, peer.readAgain),
    ]
    if count == 10 {
      comparisons += [
        comparison("libsecret in C, a new session each", peer.readInNewSessions),
        comparison("secret-tool lookup, a process each") { rounds in
          for _ in 0..<rounds {
            try run(["secret-tool", "lookup", "service", "benchmark.floor", "record", "token"])
          }
        },
      ]
      if let python = PythonKeyring() {
        comparisons.append(comparison("Python's keyring", python.read))
      }
    }
    return comparisons
  }

  struct WrongValue: Error {}

  private static func run(_ command: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw WrongValue() }
  }

  /// Does something before the first round, and never again.
  private final class Fill {
    private let body: () throws -> Void
    private var isDone = false

    init(_ body: @escaping () throws -> Void) { self.body = body }

    func once() throws {
      guard !isDone else { return }
      isDone = true
      try body()
    }
  }

  /// Bare libsecret, with as many items in the same daemon.
  @safe
  private final class Floor {
    private let daemon: GnomeKeyring
    private var handle: OpaquePointer?

    init(keeping daemon: GnomeKeyring) { self.daemon = daemon }

    /// Starts the daemon anew, with a default collection that holds so many other items.
    ///
    /// As a file that it reads: to take as many one by one costs it minutes.
    func start(with count: Int) throws {
      guard let data = daemon.environment["XDG_DATA_HOME"] else { fatalError("no data folder") }
      let folder = URL(filePath: data).appending(path: "keyrings")
      var file = "[keyring]\ndisplay-name=benchmark\nctime=0\nmtime=0\nlock-on-idle=false\n"
      for number in 1...count {
        let attributes = [
          ("xdg:schema", "org.example.Other"), ("service", "other"),
          ("record", String(repeating: "0", count: 120) + String(number + 10_000_000)),
        ]
        file +=
          "\n[\(number)]\nitem-type=0\ndisplay-name=other\nsecret=\(value)\nctime=0\nmtime=0\n"
        for (index, attribute) in attributes.enumerated() {
          file += "\n[\(number):attribute\(index)]\nname=\(attribute.0)\ntype=string\n"
          file += "value=\(attribute.1)\n"
        }
      }
      try file.write(
        to: folder.appending(path: "benchmark.keyring"), atomically: true, encoding: .utf8)
      try "benchmark".write(
        to: folder.appending(path: "default"), atomically: true, encoding: .utf8)
      try daemon.restart()
      try open()
      try store("header", sizes.header)
      try store("token", sizes.record)
    }

    private func open() throws {
      if let handle = unsafe handle { unsafe keyring_peer_close(handle) }
      unsafe handle = keyring_peer_open()
      guard unsafe handle != nil else { throw Self.failure }
    }

    private static var failure: Failed {
      Failed(description: unsafe String(cString: keyring_peer_message()))
    }

    struct Failed: Error, CustomStringConvertible {
      let description: String
    }

    private func store(_ record: String, _ size: Int) throws {
      let secret = [UInt8](repeating: 0x55, count: size)
      let status = unsafe keyring_peer_store(
        handle, "default", "benchmark.floor", record, secret, secret.count)
      guard status == 0 else { throw Self.failure }
    }

    func read(_ rounds: Int) throws { try read(rounds, searching: true) }

    /// Where it was found last.
    func readAgain(_ rounds: Int) throws { try read(rounds, searching: false) }

    private func read(_ rounds: Int, searching: Bool) throws {
      let status = unsafe keyring_peer_read(
        handle, rounds, "benchmark.floor", "token", searching ? 1 : 0)
      guard status == 0 else { throw Self.failure }
    }

    func readInNewSessions(_ rounds: Int) throws {
      for _ in 0..<rounds {
        try open()
        try read(1)
      }
    }
  }

  /// A Python that reads with its package `keyring` when it is told to, and goes on running.
  private final class PythonKeyring {
    private let input = Pipe()
    private let output = Pipe()
    private let process = Process()

    private static let program = """
      import sys, keyring
      keyring.set_password("benchmark.python", "token", "\(value)")
      print(flush=True)
      for line in sys.stdin:
          for _ in range(int(line)):
              keyring.get_password("benchmark.python", "token")
          print(flush=True)
      """

    /// Nil where there is no such package.
    init?() {
      process.executableURL = URL(filePath: "/usr/bin/python3")
      process.arguments = ["-c", Self.program]
      process.standardInput = input
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      do { try process.run() } catch { return nil }
      guard answers() else { return nil }
    }

    private func answers() -> Bool { !output.fileHandleForReading.availableData.isEmpty }

    func read(_ rounds: Int) throws {
      try input.fileHandleForWriting.write(contentsOf: Data("\(rounds)\n".utf8))
      guard answers() else { throw WrongValue() }
    }

    deinit { try? input.fileHandleForWriting.close() }
  }
}
