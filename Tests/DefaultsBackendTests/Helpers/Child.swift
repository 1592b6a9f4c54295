import Foundation
import Glibc

/// A process of the helper program.
final class Child {
  private let process = Process()
  private let output = Pipe()
  private let input = Pipe()
  private var said = Data()

  /// The helper program, which is built beside the tests.
  static let executable: String = {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    return tests.deletingLastPathComponent().appendingPathComponent("DefaultsTestChild").path
  }()

  /// Starts `prefix` followed by the helper program and `arguments`.
  init(
    _ arguments: [String], prefix: [String] = [], environment: [String: String?] = [:],
    executable: String = Child.executable
  ) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = prefix + [executable] + arguments
    if !environment.isEmpty {
      var all = ProcessInfo.processInfo.environment
      for (name, value) in environment { all[name] = value }
      process.environment = all
    }
    process.standardOutput = output
    process.standardInput = input
    process.standardError = FileHandle.standardError
    try process.run()
  }

  // A test that fails leaves no process behind.
  deinit { if process.isRunning { kill() } }

  /// Runs to the end.
  ///
  /// - Returns: the lines it said.
  static func run(
    _ arguments: String..., prefix: [String] = [], environment: [String: String?] = [:],
    executable: String = Child.executable
  ) throws -> [String] {
    try Child(arguments, prefix: prefix, environment: environment, executable: executable).lines()
  }

  /// Waits for the end, and gives the lines that were said.
  func lines() throws -> [String] {
    said += try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: said, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Waits until it has said some lines, or has ended.
  func waitUntilItSpeaks(lines: Int = 1) {
    while said.count(where: { $0 == UInt8(ascii: "\n") }) < lines {
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { return }
      said += data
    }
  }

  /// Ends its standard input, for which some commands wait.
  func release() { try? input.fileHandleForWriting.close() }

  func kill() { _ = Glibc.kill(process.processIdentifier, SIGKILL) }
}
