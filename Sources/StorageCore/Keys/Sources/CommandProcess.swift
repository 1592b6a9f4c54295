internal import CryptoCore
internal import Glibc

/// A started program, the leader of a process group.
struct CommandProcess {
  private enum End {
    case exit(code: Int32)
    case signal(Int32)
    /// Somebody else in this process has waited for it, or this process ignores SIGCHLD.
    case unknown
  }

  /// The programs that could not be ended, and have to be reaped when they are.
  private static let left = Lock<[pid_t]>([])

  private let id: pid_t
  private var end: End?

  init(id: pid_t) { self.id = id }

  /// Reaps what earlier runs left; see ``endGroup()``.
  static func reapLeft() {
    left.withLock { left in
      var status: Int32 = 0
      left.removeAll { id in unsafe waitpid(id, &status, WNOHANG) != 0 }
    }
  }

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

  /// The signal that has stopped it since the last call; nil if none has.
  func takeStop() -> Int32? {
    var info = unsafe siginfo_t()
    guard unsafe waitid(P_PID, id_t(id), &info, WSTOPPED | WNOHANG) == 0,
      unsafe info.si_signo == SIGCHLD
    else { return nil }
    return unsafe info._sifields._sigchld.si_status
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
      usleep(5_000)  // as in CommandRun
    }
    Self.left.withLock { $0.append(id) }
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
///
/// A program gets it when it wants to ask there, and not before: until then other programs of this process's
/// group, such as a pager, can use it.
struct CommandTerminal: ~Copyable {
  private let descriptor: Int32
  /// Whether somebody may type here: this process's group has the foreground.
  let isOurs: Bool
  /// The group that has the terminal now, and the terminal's settings before.
  private var lent: (group: pid_t, settings: termios)?

  init() {
    descriptor = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    isOurs = descriptor >= 0 && tcgetpgrp(descriptor) == getpgrp()
  }

  /// Makes a stopped group the foreground, once, and lets it go on.
  ///
  /// - Returns: whether it has the terminal now.
  mutating func handOver(to group: pid_t) -> Bool {
    var settings = termios()
    guard lent == nil, descriptor >= 0, tcgetpgrp(descriptor) == getpgrp(),
      unsafe tcgetattr(descriptor, &settings) == 0, setForeground(group)
    else { return false }
    lent = (group, settings)
    kill(-group, SIGCONT)
    return true
  }

  /// Makes this process's group the foreground again, with the settings that the terminal had: a program that
  /// was ended may have turned the echo off.
  func takeBack() {
    guard let lent, tcgetpgrp(descriptor) == lent.group, setForeground(getpgrp()) else { return }
    var settings = lent.settings
    unsafe tcsetattr(descriptor, TCSADRAIN, &settings)
  }

  /// A process in the background that does this gets SIGTTOU, unless it blocks that signal.
  private func setForeground(_ group: pid_t) -> Bool {
    var (blocked, former) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&blocked)
    unsafe sigaddset(&blocked, SIGTTOU)
    unsafe pthread_sigmask(SIG_BLOCK, &blocked, &former)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &former, nil) }
    return tcsetpgrp(descriptor, group) == 0
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}

/// Signals that end a process, held back from this thread while a program runs, so that the program ends first.
///
/// They reach this process when this is released. Where another thread takes them, the program is left.
struct HeldSignals: ~Copyable {
  private static let numbers = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
  private let former: sigset_t
  /// Those that were not blocked before.
  private let held: [Int32]

  init() {
    var (blocked, former) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&blocked)
    for number in Self.numbers { unsafe sigaddset(&blocked, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &blocked, &former)
    self.former = former
    held = Self.numbers.filter { unsafe sigismember(&former, $0) == 0 }
  }

  /// Whether one of them waits for this process.
  var isPending: Bool {
    var pending = sigset_t()
    return unsafe sigpending(&pending) == 0
      && held.contains { unsafe sigismember(&pending, $0) == 1 }
  }

  deinit {
    var former = former
    unsafe pthread_sigmask(SIG_SETMASK, &former, nil)
  }
}
