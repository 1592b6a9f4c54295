import Foundation
import Glibc
import Testing

/// A child process that starts with no signal blocked or ignored.
///
/// Foundation's `Process` hands on the mask of the thread that runs a test, which blocks most.
enum ChildProcess {
  /// How it ended.
  struct Status {
    private let status: Int32

    init(_ status: Int32) { self.status = status }

    /// The signal that ended it, or nil.
    var signal: Int32? { status & 0x7F == 0 ? nil : status & 0x7F }
    /// The exit code as a shell has it.
    var code: Int32 { signal.map { 128 + $0 } ?? (status >> 8 & 0xFF) }
  }

  /// Runs a command to its end, with its standard streams from and to files.
  static func run(
    _ command: [String], environment: [String: String], folder: String, streams: [String]
  ) throws -> Status {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    let command = ["/usr/bin/env", "-C", folder] + command
    for (number, path) in streams.enumerated() {
      unsafe posix_spawn_file_actions_addopen(
        &actions, Int32(number), path, number == 0 ? O_RDONLY : O_WRONLY, 0)
    }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var (none, all) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var child: pid_t = 0
    let result = unsafe withStrings(command) { arguments in
      unsafe withStrings(environment.map { "\($0)=\($1)" }) { variables in
        unsafe posix_spawn(&child, command[0], &actions, &attributes, arguments, variables)
      }
    }
    try #require(result == 0, "posix_spawn of \(command[0]): \(result)")
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0 {
      try #require(errno == EINTR)
    }
    return Status(status)
  }

  private static func withStrings<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer {
      for index in 0..<strings.count { unsafe free(pointers[index]) }
    }
    return unsafe pointers.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
  }
}
