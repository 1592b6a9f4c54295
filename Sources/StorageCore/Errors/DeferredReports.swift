internal import Glibc

/// Reports that a thread makes while it holds locks, kept until it holds none.
///
/// Whoever is told may use a storage, also the one that is at work.
enum DeferredReports {
  private struct Report {
    let error: StorageError
    let receiver: @Sendable (StorageError) -> Void
  }

  /// How deep a receiver may be called from within receivers on the same thread.
  private static let depthLimit = 4

  /// Where a thread keeps the address of its list while there is one.
  private static let slot = threadKey()
  /// Where a thread keeps how many receivers it is in.
  private static let depth = threadKey()

  private static func threadKey() -> pthread_key_t {
    var key = pthread_key_t()
    let result = unsafe pthread_key_create(&key, nil)
    precondition(result == 0, "pthread_key_create failed with errno \(result)")
    return key
  }

  /// Runs `body`, and hands on afterwards what was reported meanwhile.
  ///
  /// Within another one it is the outer one that hands on.
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

  /// Hands `error` to `receiver`, now or when the thread's locks are released.
  static func deliver(
    _ error: StorageError, to receiver: @escaping @Sendable (StorageError) -> Void
  ) {
    let report = Report(error: error, receiver: receiver)
    guard let list = unsafe pthread_getspecific(slot) else { return hand(report) }
    // The list is a variable of `collecting(_:)`, further up on this thread's stack.
    let reports = unsafe list.assumingMemoryBound(to: [Report].self)
    unsafe reports.pointee.append(report)
  }

  /// Calls the receiver, unless that was called for what it does itself, again and again.
  private static func hand(_ report: Report) {
    let outer = unsafe Int(bitPattern: pthread_getspecific(depth))
    guard outer < depthLimit else { return StorageDiagnostics.standardError(report.error) }
    unsafe pthread_setspecific(depth, UnsafeRawPointer(bitPattern: outer + 1))
    defer { unsafe pthread_setspecific(depth, UnsafeRawPointer(bitPattern: outer)) }
    report.receiver(report.error)
  }
}
