internal import CryptoCore
internal import Glibc

/// Where failures go that no caller can be handed: a wrapper's getter and setter can't throw.
///
/// A storage with an `errorClosure` reports there and not here.
public enum StorageDiagnostics: Sendable {
  /// Holds the handler: a function that is itself the value of a lock is wrapped once more at each call.
  private struct Receiver: Sendable {
    var handler: @Sendable (StorageError) -> Void
  }
  private static let state = Lock(Receiver(handler: standardError))

  /// Takes each failure, from any thread, possibly several at once.
  ///
  /// It may use a storage: no lock of the package is held. What its own use of a property reports
  /// comes to it as well, so it should use the calls that throw; where one such report leads to the
  /// next, the fifth goes to standard error. The same is true of an `errorClosure`.
  ///
  /// The default writes one line to standard error, and says a thing once: what comes again is counted.
  /// The count is said when something else goes wrong in the same place, each minute while it goes on, and
  /// when the process exits. An error of a file is the same one whatever the key. Replace it to use a
  /// logger, which gets every error; an error's description holds no secret.
  public static var handler: @Sendable (StorageError) -> Void {
    get { state.withLock { $0.handler } }
    set { state.withLock { $0.handler = newValue } }
  }

  /// Hands `error` to the handler, once the thread has left ``reportingAfterwards(_:)``.
  package static func report(_ error: StorageError) {
    DeferredReports.deliver(error, to: handler)
  }

  /// Runs `body`, which takes locks, and reports afterwards what it has to report.
  ///
  /// For whatever holds a lock over more than memory work, with the taking of the lock inside.
  package static func reportingAfterwards<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try DeferredReports.collecting(body)
  }

  static let standardError: @Sendable (StorageError) -> Void = { error in
    _ = isRestSaidAtExit
    for line in lines(for: error) { say(line) }
  }

  /// The lines to say when `error` comes: each thing once, and counts of what came again.
  ///
  /// The last of several is about `error`; none is there when it is only counted.
  package static func lines(for error: StorageError) -> [String] {
    repeated.withLock { $0.lines(for: error, at: .now) }
  }

  /// The lines of what was counted and not said yet.
  package static func restOfLines() -> [String] { repeated.withLock { $0.rest() } }

  private static let repeated = Lock(RepeatedReports())
  /// The process that says at its exit what was counted: not its forked children.
  private static let isRestSaidAtExit = {
    let process = getpid()
    owner.withLock { $0 = process }
    return atexit { StorageDiagnostics.sayRest() } == 0
  }()
  private static let owner = Lock<pid_t?>(nil)

  private static func sayRest() {
    guard owner.withLock({ $0 }) == getpid() else { return }
    for line in restOfLines() { say(line) }
  }

  /// Writes a line to standard error.
  package static func say(_ text: String) {
    let line = Array("SecurePropertyStorage: \(text)\n".utf8)
    // One write(2) of a short line, so that lines of several threads don't mix. Nobody is left to
    // tell when standard error can't be written to.
    _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  private static let memoryWarning = Lock(false)

  /// Says once that keys could not be locked in memory.
  package static func reportUnlockedMemory() {
    guard case .unlocked(let number) = SecureMemory.protection else { return }
    let isFirst = memoryWarning.withLock { said in
      defer { said = true }
      return !said
    }
    guard isFirst else { return }
    report(
      StorageError(
        .unavailable,
        "keys could not be locked in memory and may reach swap; raise RLIMIT_MEMLOCK (ulimit -l)",
        number: Int(number)))
  }
}
