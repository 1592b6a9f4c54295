private import Glibc

/// A child process made by fork(2), whose answer is what it writes to a pipe.
package enum ForkedChild {
  /// How a child ended.
  package enum Outcome: Hashable, Sendable {
    /// It left by `_exit`.
    case exited(Int32)
    /// A signal ended it.
    case signalled(Int32)
    /// It was still running at the deadline, and was killed.
    case hung
  }

  /// fork(2) is hidden from Swift, since a child that uses much of the runtime may hang.
  private static let fork: @convention(c) () -> Int32 = {
    unsafe unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> Int32).self)
  }()

  /// Does what must not be done for the first time in a child.
  package static func prepare() { _ = fork }

  /// Runs `body` in a child and collects what it writes.
  ///
  /// Only the calling thread exists in the child. Whatever `body` needs of the Swift runtime should
  /// have been used before, and it should not allocate more than it must.
  ///
  /// - Parameters:
  ///   - deadline: seconds that the child may take.
  ///   - body: gets the descriptor to write to; what it returns is the exit status.
  /// - Returns: how the child ended, and what it wrote.
  package static func run(
    deadline: Double, _ body: (Int32) -> Int32
  ) -> (outcome: Outcome, output: [UInt8]) {
    var ends: [Int32] = [0, 0]
    precondition(unsafe pipe(&ends) == 0, "pipe failed with errno \(errno)")
    let child = fork()
    if child == 0 { _exit(body(ends[1])) }
    precondition(child > 0, "fork failed with errno \(errno)")
    close(ends[1])
    defer { close(ends[0]) }
    let end = now() + deadline
    let output = read(from: ends[0], until: end)
    return (wait(for: child, until: end), output)
  }

  /// Forks in the middle of what the caller does, which goes on in both processes.
  ///
  /// - Returns: 0 in the child, which has to leave by `_exit`; the child's number in the parent,
  ///   which has to ask for its ``outcome(of:deadline:)``.
  package static func split() -> Int32 {
    let child = fork()
    precondition(child >= 0, "fork failed with errno \(errno)")
    return child
  }

  /// How a child of ``split()`` ends, of which is waited for that many seconds.
  package static func outcome(of child: Int32, deadline: Double) -> Outcome {
    wait(for: child, until: now() + deadline)
  }

  /// Writes all of `bytes`; a child calls this.
  package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    var done = 0
    while done < bytes.count {
      let count = unsafe Glibc.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  private static func read(from descriptor: Int32, until end: Double) -> [UInt8] {
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let left = end - now()
      guard left > 0 else { return output }
      var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&poller, 1, Int32(left * 1000) + 1) > 0 else { continue }
      let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return output }
      output.append(contentsOf: chunk[..<count])
    }
  }

  private static func wait(for child: Int32, until end: Double) -> Outcome {
    var status: Int32 = 0
    while unsafe waitpid(child, &status, WNOHANG) == 0 {
      guard now() < end else {
        kill(child, SIGKILL)
        unsafe waitpid(child, &status, 0)
        return .hung
      }
      usleep(200)
    }
    // wait(2): the macros WIFEXITED and WEXITSTATUS, which are not imported.
    let signal = status & 0x7f
    return signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal)
  }

  private static func now() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
