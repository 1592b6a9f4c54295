import Foundation
import Glibc
import StorageCore
import VaultBackend

/// This program again, as another process.
enum Helper {
  /// What the program does instead of measuring, when its first argument says so.
  static func run(_ arguments: [String]) throws -> Bool {
    switch arguments.first {
    case "--write-others": try Neighbour.write()
    case "--large-file":
      guard arguments.count == 2 else { return false }
      print(try LargeFile.growth(in: arguments[1]))
    case "--visit-entries":
      guard arguments.count == 3, let count = Int(arguments[2]) else { return false }
      print(try EntryVisit(of: arguments[1], count: count).line)
    default: return try runFleet(arguments)
    }
    return true
  }

  private static func runFleet(_ arguments: [String]) throws -> Bool {
    guard arguments.count == 3 else { return false }
    let (address, text) = (arguments[1], arguments[2])
    switch (arguments[0], Int(text)) {
    case ("--watch-etcd", let changes?): try FleetCalls<EtcdCluster>.watch(address, changes)
    case ("--watch-PostgreSQL", let changes?):
      try FleetCalls<PostgresServer>.watch(address, changes)
    case ("--open-etcd", _): try FleetCalls<EtcdCluster>.open(address, text)
    case ("--open-PostgreSQL", _): try FleetCalls<PostgresServer>.open(address, text)
    default: return false
    }
    return true
  }

  static func start(_ arguments: [String]) throws -> (process: Process, input: Pipe, output: Pipe) {
    let process = Process()
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    return (process, input, output)
  }

  struct Failed: Error {}
}

/// A process that writes 100 other keys a second to the standard vault, until this is released.
final class Neighbour {
  private let process: Process
  private let input: Pipe

  init() throws {
    let helper = try Helper.start(["--write-others"])
    process = helper.process
    input = helper.input
    // It says when it has begun.
    guard try helper.output.fileHandleForReading.read(upToCount: 1)?.count == 1 else {
      throw Helper.Failed()
    }
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// What that process does.
  fileprivate static func write() throws {
    let stores = (0..<100).map { Vault<String>(.standard, "other-\($0)") }
    let value = String(repeating: "o", count: 32)
    var next = Clock.wall.nanoseconds
    for round in 0... {
      try stores[round % stores.count].save(value)
      if round == stores.count {
        _ = unsafe Glibc.write(1, "r", 1)
      }
      next += 1e7
      // The end of standard input is the end.
      var input = [pollfd(fd: 0, events: Int16(POLLIN), revents: 0)]
      let pause = (next - Clock.wall.nanoseconds) / 1e6
      if unsafe poll(&input, 1, Int32(max(0, pause))) > 0 { return }
    }
  }
}
