internal import CLibsecret
internal import Foundation

/// A program that runs beside the tests and dies with them.
@safe final class ChildProcess: @unchecked Sendable {
  // A GSubprocess may be used by any thread; the pointer never changes.
  private let process: OpaquePointer

  /// Starts a command, which is looked for on the path.
  ///
  /// - Parameters:
  ///   - command: the program and its arguments.
  ///   - environment: all of its environment.
  ///   - input: its standard input, at most 4,096 bytes.
  ///   - log: the file that takes its output.
  /// - Throws: what kept it from starting.
  init(
    _ command: [String], environment: [String: String], input: String = "", log: String
  ) throws(KeyringTestingError) {
    let arguments = ["setpriv", "--pdeathsig", "KILL", "--"] + command
    // prctl(2): the signal comes when the *thread* that started the child ends, so that has to be
    // one that stays.
    let started = WorkThread.shared.run {
      Result { () throws(KeyringTestingError) in
        unsafe Handle(
          pointer: try Self.spawn(arguments, environment: environment, input: input, log: log))
      }
    }
    unsafe process = try started.get().pointer
  }

  deinit {
    kill()
    unsafe g_object_unref(UnsafeMutableRawPointer(process))
  }

  /// Sends a signal, unless it has ended.
  func send(_ signal: Int32) { unsafe g_subprocess_send_signal(process, signal) }

  /// Stops it without ending it, and waits until it stands still.
  func suspend() {
    guard let identifier = unsafe g_subprocess_get_identifier(process) else { return }
    let path = unsafe "/proc/\(SystemText.shown(identifier))/stat"
    send(SIGSTOP)
    // proc_pid_stat(5): the state follows the name, which is in parentheses; T is stopped.
    _ = Deadline(.seconds(5)).holds {
      // A process that is gone can't be read, and stands still as well.
      let stat = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ") T"
      return stat.split(separator: ")").last?.hasPrefix(" T") == true
    }
  }

  /// Ends it at once.
  func kill() {
    send(SIGKILL)
    _ = hasEnded(within: .seconds(5))
  }

  /// Whether it has ended.
  var hasEnded: Bool { unsafe g_subprocess_get_identifier(process) == nil }

  /// Whether it has ended, and a signal ended it.
  var wasEndedBySignal: Bool { hasEnded && (unsafe g_subprocess_get_if_signaled(process)) != 0 }

  /// Whether it ends within that time.
  func hasEnded(within duration: Duration) -> Bool { Deadline(duration).holds { hasEnded } }

  @safe private struct Handle: @unchecked Sendable {
    // Passed from one thread to another, once.
    let pointer: OpaquePointer
  }

  private static func spawn(
    _ arguments: [String], environment: [String: String], input: String, log: String
  ) throws(KeyringTestingError) -> OpaquePointer {
    let launcher = unsafe g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDERR_MERGE)
    guard let launcher = unsafe launcher else { throw KeyringTestingError("no launcher") }
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(launcher)) }
    unsafe g_subprocess_launcher_take_stdin_fd(launcher, try openPipe(with: input))
    unsafe g_subprocess_launcher_set_stdout_file_path(launcher, log)
    // Signals that a dispatch thread blocks are also blocked in threads that it starts and in their
    // children.
    var (none, before) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

    let variables = environment.map { "\($0.key)=\($0.value)" }
    var error: UnsafeMutablePointer<GError>?
    let process = unsafe withCStrings(variables) { variables in
      var variables = unsafe variables
      unsafe g_subprocess_launcher_set_environ(launcher, &variables)
      return unsafe withCStrings(arguments) { arguments in
        let arguments = unsafe arguments.map { unsafe UnsafePointer($0) }
        return unsafe g_subprocess_launcher_spawnv(launcher, arguments, &error)
      }
    }
    guard let process = unsafe process else { throw unsafe KeyringTestingError(taking: error) }
    return unsafe process
  }

  /// The read end of a pipe that holds `input`.
  private static func openPipe(with input: String) throws(KeyringTestingError) -> Int32 {
    var ends: [Int32] = [-1, -1]
    // A child that another thread starts at this moment must not inherit the end that keeps this
    // one open.
    guard unsafe g_unix_open_pipe(&ends, FD_CLOEXEC, nil) != 0 else {
      throw KeyringTestingError("there is no pipe")
    }
    defer { close(ends[1]) }
    let bytes = Array(input.utf8)
    // pipe(7): a pipe keeps this many bytes without a reader.
    precondition(bytes.count <= 4_096, "too long for a pipe")
    let written = unsafe bytes.withUnsafeBytes { unsafe write(ends[1], $0.baseAddress, $0.count) }
    precondition(written == bytes.count, "a pipe with room took no more")
    return ends[0]
  }

  private static func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies = unsafe strings.map { unsafe strdup($0) }
    defer {
      for index in unsafe copies.indices { unsafe free(copies[index]) }
    }
    return unsafe body(copies + [nil])
  }
}

/// Those of our variables that a child needs, without any that leads to the user's own session.
let plainEnvironment = [
  "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
  "LANG": "C.UTF-8",
]
