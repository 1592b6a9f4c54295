private import Foundation

/// A process that a test started.
package final class Child {
  /// A child that failed of itself, where a test counts on it.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  private let command: [String]
  private let process: SpawnedProcess
  private let output: FileHandle
  private let input: FileHandle
  private var said = Data()

  /// Starts a command, which is looked for on the path.
  package init(_ command: [String], environment: [String: String?] = [:]) throws {
    var all = ProcessInfo.processInfo.environment
    for (name, value) in environment { all[name] = value }
    // Leaks are looked for in the tests' own process: a child may be under strace, where that can't
    // be, and Foundation leaks a buffer when a read fails. Nor can every child read the file of
    // what is to be passed over: some run as another user.
    if let options = all["ASAN_OPTIONS"] {
      all["ASAN_OPTIONS"] = options + ":detect_leaks=0:suppressions="
    }
    let (output, input) = (Pipe(), Pipe())
    self.command = command
    process = try SpawnedProcess(
      ["/usr/bin/env"] + command, environment: all,
      input: input.fileHandleForReading.fileDescriptor,
      output: output.fileHandleForWriting.fileDescriptor)
    // The other ends are closed with the pipes.
    self.output = output.fileHandleForReading
    self.input = input.fileHandleForWriting
  }

  // A test that fails leaves no process behind.
  deinit { if process.isRunning { kill() } }

  /// Whether it has not ended yet.
  package var isRunning: Bool { process.isRunning }

  /// Runs a command to its end.
  ///
  /// - Returns: the lines it said.
  /// - Throws: as ``lines(mayFail:)``.
  package static func run(
    _ command: [String], environment: [String: String?] = [:], mayFail: Bool = false
  ) throws -> [String] {
    try Child(command, environment: environment).lines(mayFail: mayFail)
  }

  /// Waits for the end, and gives the lines that were said and not taken yet.
  ///
  /// - Throws: ``Failure`` with what it said, when it ended with a status that is not 0, or by a signal, unless it
  ///   may fail. SIGKILL is what tests kill with.
  package func lines(mayFail: Bool = false) throws -> [String] {
    said += try output.readToEnd() ?? Data()
    let failure = process.waitUntilExit()
    let text = String(decoding: said, as: UTF8.self)
    if let failure, !mayFail {
      throw Failure(description: "\(command.joined(separator: " ")): \(failure) and said: \(text)")
    }
    return text.split(separator: "\n").map(String.init)
  }

  /// Waits until it has said some lines, or has ended.
  package func waitUntilItSpeaks(lines: Int = 1) {
    while said.count(where: { $0 == UInt8(ascii: "\n") }) < lines {
      let data = output.availableData
      if data.isEmpty { return }
      said += data
    }
  }

  /// Tells it a line, and waits for one.
  ///
  /// - Returns: the answer; nil when it ended instead.
  package func ask(_ line: String) throws -> String? {
    try input.write(contentsOf: Data((line + "\n").utf8))
    return nextLine()
  }

  /// Takes the next line that it says; nil when it ended instead.
  package func nextLine() -> String? {
    waitUntilItSpeaks()
    guard let end = said.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    defer { said = Data(said[(end + 1)...]) }
    return String(decoding: said[..<end], as: UTF8.self)
  }

  /// Ends its standard input, for which some commands wait.
  package func release() { try? input.close() }

  /// For whoever stops it from another thread.
  package var processIdentifier: Int32 { process.identifier }

  package func kill() { send(SIGKILL) }

  package func send(_ signal: Int32) { process.send(signal) }
}

/// A program that is built beside the tests, to be killed, traced, or run as somebody else.
package struct HelperProgram: Sendable {
  package let path: String

  private init(path: String) { self.path = path }

  /// The program of a target.
  package init(_ name: String) {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    path = tests.deletingLastPathComponent().appendingPathComponent(name).path
  }

  /// A copy in a folder that every user can get at.
  ///
  /// Made by a program of its own: what another thread starts meanwhile would inherit a copy that
  /// is open for writing here, and such a file can't be run (execve(2), ETXTBSY).
  package func copy(to folder: String) throws -> HelperProgram {
    let copy = folder + "/" + URL(fileURLWithPath: path).lastPathComponent
    _ = try Child.run(["cp", "-n", "--", path, copy])
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: copy)
    return HelperProgram(path: copy)
  }

  /// Starts the program.
  ///
  /// - Parameters:
  ///   - arguments: what it is to do.
  ///   - prefix: a command that runs it, as `strace`.
  ///   - environment: what it finds changed there.
  /// - Returns: its process.
  /// - Throws: what kept it from starting.
  package func start(
    _ arguments: [String], prefix: [String] = [], environment: [String: String?] = [:]
  ) throws -> Child {
    try Child(prefix + [path] + arguments, environment: environment)
  }

  /// Runs the program to its end.
  ///
  /// - Returns: the lines it said.
  /// - Throws: as ``Child/lines(mayFail:)``.
  package func run(
    _ arguments: String..., prefix: [String] = [], environment: [String: String?] = [:],
    mayFail: Bool = false
  ) throws -> [String] {
    try start(arguments, prefix: prefix, environment: environment).lines(mayFail: mayFail)
  }

  /// Runs a shell script in a mount namespace of its own; `$0` is the program.
  package func run(script: String, mayFail: Bool = false) throws -> [String] {
    try Child.run(Machine.inMountNamespace + ["sh", "-c", script, path], mayFail: mayFail)
  }
}
