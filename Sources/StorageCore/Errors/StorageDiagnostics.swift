internal import CryptoCore
internal import Glibc

/// Receives failures that can't be thrown, because the getter and setter of a property wrapper
/// can't throw.
///
/// A storage with an `errorClosure` reports to that closure instead.
public enum StorageDiagnostics: Sendable {
  /// Holds the handler: a lock whose value is a function would wrap that function again at each
  /// call.
  private struct Receiver: Sendable {
    var handler: @Sendable (StorageError) -> Void
  }
  private static let state = Lock(Receiver(handler: standardError))

  /// The function that receives each failure, from any thread, possibly several at once.
  ///
  /// The handler may use a storage: the package holds no lock while it calls the handler. If the
  /// handler itself uses a property that fails, the handler is called again, so it should use the
  /// throwing calls. When such calls nest, the fifth report goes to standard error. The same is
  /// true of an `errorClosure`.
  ///
  /// The default handler writes one line to standard error for each new error, and then counts
  /// repeats. It prints the count when another error comes from the same place, each minute while
  /// the error goes on, and when the process exits. Errors of one file that differ only in their
  /// key name count as the same.
  ///
  /// Replace the handler to use a logger, which then gets every error. The description of an error
  /// holds no secret.
  public static var handler: @Sendable (StorageError) -> Void {
    get { state.withLock { $0.handler } }
    set { state.withLock { $0.handler = newValue } }
  }

  /// Passes `error` to the handler, after the thread has left ``reportingAfterwards(_:)``.
  package static func report(_ error: StorageError) {
    DeferredReports.deliver(error, to: handler)
  }

  /// Passes `error` to an error closure in the same way, or to the handler when there is none.
  package static func report(_ error: StorageError, to closure: (@Sendable (any Error) -> Void)?) {
    guard let closure else { return report(error) }
    DeferredReports.deliver(error) { closure($0) }
  }

  /// Runs `body`, which takes locks, and delivers its reports afterwards.
  ///
  /// Use it around code that holds a lock for more than memory work; `body` must take the lock
  /// itself.
  package static func reportingAfterwards<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try DeferredReports.collecting(body)
  }

  static let standardError: @Sendable (StorageError) -> Void = { error in
    _ = isRestSaidAtExit
    for line in lines(for: error) { say(line) }
  }

  /// The lines to print when `error` comes: new errors, and counts of repeated ones.
  ///
  /// The last line is about `error`. The result is empty when `error` is only counted.
  package static func lines(for error: StorageError) -> [String] {
    repeated.withLock { $0.lines(for: error, at: .now) }
  }

  /// The lines with all counts that were not printed yet.
  package static func restOfLines() -> [String] { repeated.withLock { $0.rest() } }

  private static let repeated = Lock(RepeatedReports())
  /// Registers the printing of the remaining counts at exit, for this process and not its forked
  /// children.
  private static let isRestSaidAtExit = {
    let process = OwnProcess()
    owner.withLock { $0 = process }
    return atexit { StorageDiagnostics.sayRest() } == 0
  }()
  private static let owner = Lock<OwnProcess?>(nil)

  private static func sayRest() {
    guard owner.withLock({ $0 })?.isCurrent == true else { return }
    for line in restOfLines() { say(line) }
  }

  /// Writes a line to standard error.
  package static func say(_ text: String) {
    let line = Array("SecurePropertyStorage: \(text)\n".utf8)
    // One write(2) of a short line, so that lines of several threads don't mix. A failure is
    // ignored: there is no other place to report it to.
    _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  private static let memoryWarning = Lock(false)

  /// Reports, once in a process, that keys could not be locked in memory.
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
