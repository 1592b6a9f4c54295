internal import Glibc

/// Keeps the reports that a thread makes while it holds locks, and delivers them after the thread
/// has released the locks.
///
/// So a receiver may use any storage, also the one that made the report.
enum DeferredReports {
  private struct Report {
    let error: StorageError
    let receiver: @Sendable (StorageError) -> Void
  }

  /// How deep calls of receivers may nest on one thread.
  private static let depthLimit = 4

  /// The thread-specific address of the list of reports; null while the thread collects none.
  private static let slot = threadKey()
  /// The thread-specific number of receivers that are running.
  private static let depth = threadKey()

  private static func threadKey() -> pthread_key_t {
    var key = pthread_key_t()
    let result = unsafe pthread_key_create(&key, nil)
    precondition(result == 0, "pthread_key_create failed with errno \(result)")
    return key
  }

  /// Runs `body`, and afterwards delivers the reports made meanwhile.
  ///
  /// In nested calls, only the outermost call delivers.
  static func collecting<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard unsafe pthread_getspecific(slot) == nil else { return try body() }
    var reports: [Report] = []
    defer { for report in reports { hand(report) } }
    return try unsafe withUnsafeMutablePointer(to: &reports) { (list) throws(Failure) in
      unsafe pthread_setspecific(slot, list)
      defer { pthread_setspecific(slot, nil) }
      return try body()
    }
  }

  /// Passes `error` to `receiver`: now, or after the outermost `collecting(_:)` has ended.
  static func deliver(
    _ error: StorageError, to receiver: @escaping @Sendable (StorageError) -> Void
  ) {
    let report = Report(error: error, receiver: receiver)
    guard let list = unsafe pthread_getspecific(slot) else { return hand(report) }
    // The list is a local variable of `collecting(_:)`, further up on this thread's stack.
    let reports = unsafe list.assumingMemoryBound(to: [Report].self)
    unsafe reports.pointee.append(report)
  }

  /// Calls the receiver, or writes to standard error if the receiver's own errors have called it
  /// too often.
  private static func hand(_ report: Report) {
    let outer = unsafe Int(bitPattern: pthread_getspecific(depth))
    guard outer < depthLimit else { return StorageDiagnostics.standardError(report.error) }
    unsafe pthread_setspecific(depth, UnsafeRawPointer(bitPattern: outer + 1))
    defer { unsafe pthread_setspecific(depth, UnsafeRawPointer(bitPattern: outer)) }
    report.receiver(report.error)
  }
}
