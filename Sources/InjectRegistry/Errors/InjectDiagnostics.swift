internal import Glibc

/// Takes failures that no caller gets, because a property's getter can't throw.
///
/// A storage with an `errorClosure` reports there and not here. Waits that take long are reported
/// here in any case.
public enum InjectDiagnostics: Sendable {
  private static let lock = InjectLock()
  // Both are read and written under `lock`.
  private nonisolated(unsafe) static var currentHandler = standardError
  private nonisolated(unsafe) static var currentPatience = Duration.seconds(5)

  /// Takes each failure, from any thread, possibly several at once.
  ///
  /// No lock is held while it runs. The default writes the error's description to standard error.
  /// If the handler itself injects what fails, that report goes to standard error and not to the
  /// handler again; the same is true of an `errorClosure`.
  public static var handler: @Sendable (InjectError) -> Void {
    get { lock.withLock { unsafe currentHandler } }
    set {
      let old = lock.withLock {
        defer { unsafe currentHandler = newValue }
        return unsafe currentHandler
      }
      // Released outside the lock: the old handler may hold the last reference to something that
      // reports.
      withExtendedLifetime(old) {}
    }
  }

  /// How long a wait for a builder lasts before it is reported; 5 seconds unless it is set.
  public static var patience: Duration {
    get { lock.withLock { unsafe currentPatience } }
    set { lock.withLock { unsafe currentPatience = newValue } }
  }

  static func report(_ error: InjectError) { hand(error, to: handler) }

  /// How many receivers run on this thread, as the thread's own value.
  private static let depth: pthread_key_t = {
    var key = pthread_key_t()
    let result = unsafe pthread_key_create(&key, nil)
    precondition(result == 0, "pthread_key_create failed with errno \(result)")
    return key
  }()

  /// Passes an error to a receiver, or to standard error if it comes from inside of a receiver.
  ///
  /// A receiver that injects what fails would otherwise be called for its own failure, until the
  /// stack is full. So would the description of a builder's error that injects what fails: what
  /// fails while an error is written is not reported.
  static func hand(_ error: InjectError, to receiver: (InjectError) -> Void) {
    let outer = unsafe Int(bitPattern: pthread_getspecific(depth))
    guard outer < 2 else { return }
    unsafe pthread_setspecific(depth, UnsafeRawPointer(bitPattern: outer + 1))
    defer { unsafe pthread_setspecific(depth, UnsafeRawPointer(bitPattern: outer)) }
    if outer == 0 { receiver(error) } else { standardError(error) }
  }

  private static let standardError: @Sendable (InjectError) -> Void = { error in
    let text = Array("InjectError.\(error)\n".utf8)
    // One write(2), so that texts of several threads don't mix. A failure to write to standard
    // error can't be reported anywhere.
    _ = unsafe text.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
