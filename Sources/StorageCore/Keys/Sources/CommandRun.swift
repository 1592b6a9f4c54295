internal import CGlibc
internal import Glibc

/// One run of a program whose standard output is read into secure memory.
struct CommandRun {
  /// The program's path.
  let path: String
  /// The program's name and arguments.
  let arguments: [String]
  /// How errors name it.
  let title: String
  /// How long it may take; nil for the usual time.
  let timeout: Duration?

  /// How often a program is looked at that has closed its output, or whose children keep it open.
  private static let pause: Int64 = 20_000_000

  /// Runs the program to its end, and fills the span with what it prints.
  ///
  /// What a child of the program that outlives it prints later is not waited for.
  ///
  /// - Returns: how many bytes were printed; less than the span's.
  func read(into span: inout MutableRawSpan) throws(StorageError) -> Int {
    let terminal = Terminal()
    let limit = timeout ?? (terminal.isOurs ? .seconds(120) : .seconds(30))
    let end = MonotonicTime.now.later(by: limit)
    let (output, child) = try start(terminal)
    defer { close(output) }
    var process = Process(id: child)
    // The group is ended before the program is reaped: until then nobody else has its number.
    defer {
      process.endGroup()
      terminal.takeBack()
    }
    var (count, isOpen) = (0, true)
    while isOpen || !process.hasEnded {
      guard count < span.byteCount else {
        throw StorageError(
          .damaged, "\(title) printed more than \(span.byteCount - 1) bytes, which is no key")
      }
      guard Cancellation.current?.isCancelled != true else {
        throw StorageError(.cancelled, "the task was cancelled while \(title) ran")
      }
      let left = end.since(.now)
      guard left > 0 else {
        throw StorageError(
          .timedOut,
          "\(title) did not end within \(limit.components.seconds) s and was ended; it may wait "
            + "for an answer that nobody gives: run it by hand")
      }
      let hadEnded = process.hasEnded
      let result = try take(from: output, &span, count, waiting: min(left, Self.pause), isOpen)
      switch result {
      case .bytes(let more): count += more
      case .closed: isOpen = false
      // An ended program has written all it will; a child of it may keep the pipe open for ever.
      case .nothing: if hadEnded { isOpen = false }
      }
    }
    try process.requireSuccess(title)
    return count
  }

  private enum Taken {
    case bytes(Int)
    case closed
    case nothing
  }

  /// Reads what the pipe has, after a wait of at most so many nanoseconds.
  private func take(
    from output: Int32, _ span: inout MutableRawSpan, _ count: Int, waiting: Int64, _ isOpen: Bool
  ) throws(StorageError) -> Taken {
    guard isOpen else {
      // Its end has no descriptor that every system's glibc can give, so this sleeps.
      usleep(useconds_t(waiting / 1_000 / 4 + 1))
      return .nothing
    }
    var poll = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    let ready = unsafe Glibc.poll(&poll, 1, Int32(waiting / 1_000_000 + 1))
    if ready < 0 && errno != EINTR { throw StorageError(system: "wait for \(title)", path: path) }
    guard ready > 0 else { return .nothing }
    let result = unsafe span.withUnsafeMutableBytes { buffer in
      unsafe Glibc.read(output, buffer.baseAddress! + count, buffer.count - count)
    }
    if result > 0 { return .bytes(result) }
    if result == 0 { return .closed }
    guard errno == EINTR || errno == EAGAIN else {
      throw StorageError(system: "read from \(title)", path: path)
    }
    return .nothing
  }

  /// Starts the program in a process group of its own, and returns the pipe's end and its number.
  private func start(_ terminal: borrowing Terminal) throws(StorageError) -> (
    output: Int32, child: pid_t
  ) {
    var pipe: [Int32] = [-1, -1]
    guard unsafe pipe2(&pipe, O_CLOEXEC) == 0 else {
      throw StorageError(system: "make a pipe for \(title)", path: path)
    }
    defer { close(pipe[1]) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    // The terminal first: its descriptor is closed with the others.
    if terminal.isOurs {
      unsafe posix_spawn_file_actions_addtcsetpgrp_np(&actions, terminal.descriptor)
    }
    unsafe posix_spawn_file_actions_adddup2(&actions, pipe[1], 1)
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    if fcntl(2, F_GETFD) < 0 {
      unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    }
    unsafe posix_spawn_file_actions_addclosefrom_np(&actions, 3)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var (none, all) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
    var child: pid_t = 0
    let result = unsafe withStrings(arguments) { arguments in
      unsafe posix_spawn(&child, path, &actions, &attributes, arguments, environ)
    }
    guard result == 0 else {
      close(pipe[0])
      throw failure(result)
    }
    return (pipe[0], child)
  }

  private func withStrings<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer {
      for index in 0..<strings.count { unsafe free(pointers[index]) }
    }
    return unsafe pointers.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
  }

  /// The error of a program that could not be started.
  private func failure(_ number: Int32) -> StorageError {
    switch number {
    case ENOENT, ENOTDIR, ELOOP:
      StorageError(
        .keyUnavailable,
        "\(title) does not exist, or the interpreter in its first line does not; install it, or correct "
          + "its path", path: path, number: Int(number))
    case EACCES, EPERM, ENOEXEC, EISDIR:
      StorageError(
        .denied,
        "\(title) can't be executed; give the path of a program that this user may execute",
        path: path, number: Int(number))
    default:
      StorageError(
        .keyUnavailable, "\(title) could not be started (error \(number) of the system)",
        path: path,
        number: Int(number))
    }
  }
}

extension CommandRun {
  /// A started program, the leader of a process group.
  struct Process {
    private enum End {
      case exit(code: Int32)
      case signal(Int32)
      /// Somebody else in this process has waited for it, or this process ignores SIGCHLD.
      case unknown
    }

    private let id: pid_t
    private var end: End?

    init(id: pid_t) { self.id = id }

    /// Whether it has ended; it stays a zombie, so that its number stays its own.
    var hasEnded: Bool {
      mutating get {
        guard end == nil else { return true }
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(id), &info, WEXITED | WNOHANG | WNOWAIT) != 0 {
          guard errno == EINTR else {
            end = .unknown
            return true
          }
        }
        guard unsafe info.si_signo == SIGCHLD else { return false }
        let value = unsafe info._sifields._sigchld.si_status
        end = unsafe info.si_code == CLD_EXITED ? .exit(code: value) : .signal(value)
        return true
      }
    }

    /// Ends all processes of the group, and reaps the program.
    mutating func endGroup() {
      if case .unknown? = end { return }
      kill(-id, SIGKILL)
      // A program that this user may not end, such as a set-uid one, is left to its own end, though others
      // of its group were ended: so this waits a second at most.
      var status: Int32 = 0
      for _ in 0..<200 {
        let result = unsafe waitpid(id, &status, WNOHANG)
        guard result == 0 || result < 0 && errno == EINTR else { return }
        usleep(5_000)  // as above
      }
    }

    /// Throws unless the program has ended with exit code 0.
    func requireSuccess(_ title: String) throws(StorageError) {
      switch end {
      case .exit(code: 0): return
      case .exit(let code):
        throw StorageError(
          .keyUnavailable, "\(title) ended with exit code \(code); its own message says why")
      case .signal(let signal):
        throw StorageError(.keyUnavailable, "\(title) was ended by signal \(signal)")
      case .unknown, nil:
        throw StorageError(
          .keyUnavailable,
          "the exit code of \(title) is unknown, because this program ignores SIGCHLD or has waited for it "
            + "elsewhere; nothing that it printed was used")
      }
    }
  }

  /// The terminal that this process has the foreground of, or none.
  struct Terminal: ~Copyable {
    let descriptor: Int32
    /// Whether a program may be given the terminal: this process's group reads what is typed.
    let isOurs: Bool

    init() {
      descriptor = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
      isOurs = descriptor >= 0 && tcgetpgrp(descriptor) == getpgrp()
    }

    /// Makes this process's group the terminal's foreground again.
    func takeBack() {
      guard isOurs else { return }
      // A process in the background that does this gets SIGTTOU, unless it blocks that signal.
      var (blocked, former) = (sigset_t(), sigset_t())
      unsafe sigemptyset(&blocked)
      unsafe sigaddset(&blocked, SIGTTOU)
      unsafe pthread_sigmask(SIG_BLOCK, &blocked, &former)
      tcsetpgrp(descriptor, getpgrp())
      unsafe pthread_sigmask(SIG_SETMASK, &former, nil)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
  }
}
