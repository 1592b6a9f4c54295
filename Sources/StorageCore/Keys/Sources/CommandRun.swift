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
    CommandProcess.reapLeft()
    let signals = HeldSignals()
    var terminal = CommandTerminal()
    let limit = timeout ?? (terminal.isOurs ? .seconds(120) : .seconds(30))
    let end = MonotonicTime.now.later(by: limit)
    let (output, child) = try start()
    defer { close(output) }
    var process = CommandProcess(id: child)
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
      guard Cancellation.current?.isCancelled != true, !signals.isPending else {
        throw StorageError(.cancelled, "\(title) was ended, because its caller was cancelled")
      }
      if let signal = process.takeStop() { try resume(child, stoppedBy: signal, &terminal) }
      let left = end.since(.now)
      guard left > 0 else {
        throw StorageError(
          .timedOut,
          "\(title) did not end within \(limit) and was ended; it may wait for an answer that nobody "
            + "gives: run it by hand, or give it a longer timeout")
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

  /// Gives the terminal to a program that stopped because it wants to ask there.
  private func resume(
    _ child: pid_t, stoppedBy signal: Int32, _ terminal: inout CommandTerminal
  ) throws(StorageError) {
    guard signal == SIGTTIN || signal == SIGTTOU else {
      throw StorageError(
        .keyUnavailable, "\(title) was stopped by signal \(signal), and was ended")
    }
    guard terminal.handOver(to: child) else {
      throw StorageError(
        .keyUnavailable,
        "\(title) wants to ask at the terminal, which another program has; run this in the foreground "
          + "of a terminal")
    }
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
  private func start() throws(StorageError) -> (output: Int32, child: pid_t) {
    let hasErrors = fcntl(2, F_GETFD) >= 0
    var pipe: [Int32] = [-1, -1]
    guard unsafe pipe2(&pipe, O_CLOEXEC) == 0 else {
      throw StorageError(system: "make a pipe for \(title)", path: path)
    }
    // Where a standard descriptor is closed, what other threads print must not get into the pipe.
    let made = pipe + [unsafe open("/dev/null", O_RDWR | O_CLOEXEC)]
    let descriptors = made.map(Self.beyondStandard)
    let (output, input, null) = (descriptors[0], descriptors[1], descriptors[2])
    var isStarted = false
    defer {
      for descriptor in isStarted ? [input, null] : descriptors where descriptor >= 0 {
        close(descriptor)
      }
    }
    guard descriptors.allSatisfy({ $0 >= 0 }) else {
      throw StorageError(system: "open /dev/null and a pipe for \(title)", path: "/dev/null")
    }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input, 1)
    unsafe posix_spawn_file_actions_adddup2(&actions, null, 0)
    if !hasErrors { unsafe posix_spawn_file_actions_adddup2(&actions, null, 2) }
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
    guard result == 0 else { throw failure(result) }
    isStarted = true
    return (output, child)
  }

  /// The descriptor, or in the place of a standard one another for the same; -1 if there is none.
  private static func beyondStandard(_ descriptor: Int32) -> Int32 {
    guard (0...2).contains(descriptor) else { return descriptor }
    defer { close(descriptor) }
    return fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
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
