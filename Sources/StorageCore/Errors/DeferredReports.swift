internal import Glibc

/// Reports that a thread makes while it holds locks, kept until it holds none.
///
/// Whoever is told may use a storage, also the one that is at work.
enum DeferredReports {
  private struct Report {
    let error: StorageError
    let receiver: @Sendable (StorageError) -> Void
  }

  /// Where a thread keeps the address of its list while there is one.
  private static let slot: pthread_key_t = {
    var key = pthread_key_t()
    let result = unsafe pthread_key_create(&key, nil)
    precondition(result == 0, "pthread_key_create failed with errno \(result)")
    return key
  }()

  /// Runs `body`, and hands on afterwards what was reported meanwhile.
  ///
  /// Within another one it is the outer one that hands on.
  static func collecting<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard unsafe pthread_getspecific(slot) == nil else { return try body() }
    var reports: [Report] = []
    defer { for report in reports { report.receiver(report.error) } }
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
    guard let list = unsafe pthread_getspecific(slot) else { return receiver(error) }
    // The list is a variable of `collecting(_:)`, further up on this thread's stack.
    let reports = unsafe list.assumingMemoryBound(to: [Report].self)
    unsafe reports.pointee.append(Report(error: error, receiver: receiver))
  }
}
