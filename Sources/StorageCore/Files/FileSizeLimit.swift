internal import Glibc

/// The limit that a process has for the size of a file: `ulimit -f`, RLIMIT_FSIZE of getrlimit(2).
package enum FileSizeLimit {
  /// Runs `body`; a write in it beyond the limit fails with EFBIG, and no signal ends the process.
  ///
  /// The system sends SIGXFSZ to the thread that writes. The handling of a signal belongs to the
  /// program, so the signal is blocked for this thread alone, and taken before it is let through
  /// again. Nothing happens where there is no limit, or where the program blocks the signal itself.
  package static func withoutSignal<Result, Failure>(
    if isLimited: Bool = isSet, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard isLimited else { return try body() }
    var (signals, before) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGXFSZ)
    guard unsafe pthread_sigmask(SIG_BLOCK, &signals, &before) == 0,
      unsafe sigismember(&before, SIGXFSZ) == 0
    else { return try body() }
    defer {
      let number = errno  // of the write that failed
      var now = timespec()
      while unsafe sigtimedwait(&signals, nil, &now) == SIGXFSZ {}
      unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
      errno = number
    }
    return try body()
  }

  /// Whether the process has a limit now; prlimit(1) may set one at any time.
  package static var isSet: Bool {
    var limit = rlimit()
    return unsafe getrlimit(__rlimit_resource_t(1), &limit) == 0 && limit.rlim_cur != .max
  }
}
