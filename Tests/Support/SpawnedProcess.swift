private import Foundation

/// A child process, by posix_spawn(3).
///
/// Not Foundation's `Process`: that one looks through the open files of this process and copies
/// whole `dirent` structures, past the end of what readdir(3) has given. With some 1,350 files
/// open, as they are when all tests run side by side, it ended the tests by SIGSEGV.
@safe final class SpawnedProcess: @unchecked Sendable {
  // What may change is touched only while `lock` is held.
  /// What the process was started as; another process may have the number once this one was waited
  /// for.
  let identifier: Int32
  /// Whether it has ended and was waited for.
  private var isReaped = false
  /// Whether it was sent a signal, after which no end of it is a failure.
  private var isSignalled = false
  private var status: Int32 = 0
  private let lock = NSCondition()

  /// Starts a program by its path.
  ///
  /// - Parameters:
  ///   - command: the path, and the arguments.
  ///   - environment: all of its environment.
  ///   - input: what it has as standard input.
  ///   - output: what it has as standard output. Standard error is that of this process, and no
  ///     other file of this process is open in it.
  /// - Throws: what kept it from starting.
  init(
    _ command: [String], environment: [String: String], input: Int32, output: Int32
  ) throws {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
    guard unsafe Self.closeFrom(&actions, 3) == 0 else { throw POSIXError(.ENOMEM) }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // What a dispatch thread blocks, threads that it starts block too, and their children.
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    // What is written to a child that has ended is an error of the call, and not the end of the
    // tests.
    _ = Self.ignoresBrokenPipes
    var broken = sigset_t()
    unsafe sigemptyset(&broken)
    unsafe sigaddset(&broken, SIGPIPE)
    unsafe posix_spawnattr_setsigdefault(&attributes, &broken)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    let variables = environment.map { "\($0.key)=\($0.value)" }
    var identifier: pid_t = 0
    let result = unsafe Self.withCStrings(command) { arguments in
      unsafe Self.withCStrings(variables) { variables in
        unsafe posix_spawn(&identifier, command[0], &actions, &attributes, arguments, variables)
      }
    }
    guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: result) ?? .EINVAL) }
    self.identifier = identifier
    // At once, as it ends: Swift Testing waits for any child of the process, and where one is left
    // that nobody waits for, its thread is told of that one again and again, and never of the end
    // of an exit test.
    Thread.detachNewThread { [self] in reap() }
  }

  /// Whether it has not ended.
  var isRunning: Bool { lock.withLock { !isReaped } }

  /// Sends a signal, unless it has ended.
  func send(_ signal: Int32) {
    lock.withLock {
      if !isReaped {
        isSignalled = true
        kill(identifier, signal)
      }
    }
  }

  /// Waits for its end.
  ///
  /// - Returns: how it failed of itself; nil if it did not.
  @discardableResult
  func waitUntilExit() -> String? {
    lock.withLock {
      while !isReaped { lock.wait() }
      guard status != 0, status != SIGKILL, !isSignalled else { return nil }
      let signal = status & 0x7F
      return signal == 0 ? "it ended with status \(status >> 8)" : "signal \(signal) ended it"
    }
  }

  private func reap() {
    // waitid(2): it stays there to be waited for, so that nobody signals another process by its
    // number.
    var information = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0,
      errno == EINTR
    {}
    lock.withLock {
      unsafe waitpid(identifier, &status, 0)
      isReaped = true
      lock.broadcast()
    }
  }

  private static let ignoresBrokenPipes: Void = {
    _ = signal(SIGPIPE, SIG_IGN)
  }()

  /// posix_spawn_file_actions_addclosefrom_np(3) of glibc 2.34, which Swift's Glibc does not show.
  private static let closeFrom:
    @convention(c) (
      UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32
    ) -> Int32 = {
      let symbol = unsafe dlsym(nil, "posix_spawn_file_actions_addclosefrom_np")
      guard let symbol = unsafe symbol else { fatalError("glibc is older than 2.34") }
      return unsafe unsafeBitCast(
        symbol,
        to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self
      )
    }()

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
