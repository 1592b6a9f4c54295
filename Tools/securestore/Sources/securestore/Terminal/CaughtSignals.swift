internal import Glibc
internal import Synchronization

/// Catches the signals that would end or stop the process while the terminal's echo is off.
///
/// The signals stay blocked except while the process waits, so none is missed. A signal that the
/// caller of the program ignored stays ignored.
struct CaughtSignals: ~Copyable {
  // A handler may do nothing but set this.
  private static let caught = Atomic<Int32>(0)
  private static let numbers = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

  private var oldActions: [(Int32, sigaction)] = []
  private var oldMask = sigset_t()

  init() {
    Self.caught.store(0, ordering: .relaxed)
    var mask = sigset_t()
    unsafe sigemptyset(&mask)
    for number in Self.numbers {
      var old = sigaction()
      unsafe sigaction(number, nil, &old)
      if Self.isIgnored(old) { continue }
      unsafe sigaddset(&mask, number)
      oldActions.append((number, old))
    }
    unsafe pthread_sigmask(SIG_BLOCK, &mask, &oldMask)
    for index in oldActions.indices {
      var action = sigaction()
      unsafe action.__sigaction_handler.sa_handler = { number in
        CaughtSignals.caught.store(number, ordering: .relaxed)
      }
      unsafe sigaction(oldActions[index].0, &action, nil)
    }
  }

  /// Returns and clears the caught signal.
  func take() -> Int32? {
    let number = Self.caught.exchange(0, ordering: .relaxed)
    return number == 0 ? nil : number
  }

  deinit {
    for index in oldActions.indices {
      var old = oldActions[index].1
      unsafe sigaction(oldActions[index].0, &old, nil)
    }
    var mask = oldMask
    unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
  }

  private static func isIgnored(_ action: sigaction) -> Bool {
    unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
