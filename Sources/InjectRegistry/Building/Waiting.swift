/// A task that waits for a build without holding a thread.
final class AsyncWaiter: @unchecked Sendable {
  private let lock = InjectLock()
  // Both are guarded by `lock`.
  private var continuation: CheckedContinuation<Void, Never>?
  private var isResumed = false

  /// Waits until `resume` is called; returns at once if it was called before.
  func sleep() async {
    await withCheckedContinuation { continuation in
      let isResumed = lock.withLock {
        if !self.isResumed { self.continuation = continuation }
        return self.isResumed
      }
      if isResumed { continuation.resume() }
    }
  }

  /// Lets the task continue; may be called any number of times.
  func resume() {
    let continuation = lock.withLock {
      isResumed = true
      defer { self.continuation = nil }
      return self.continuation
    }
    continuation?.resume()
  }
}

extension Builds {
  /// Holds the thread until a build ends.
  ///
  /// - Parameters:
  ///   - wait: what was allowed.
  ///   - subject: what is resolved, for messages.
  /// - Throws: what the builder failed with; a cycle that was only suspected, after a second.
  static func hold(_ wait: Wait, _ subject: InjectError.Subject) throws(InjectError) {
    let deadline = Deadline(in: wait.patience)
    lock.lock()
    var isInTime = true
    while !wait.target.isDone, isInTime {
      isInTime = wait.target.condition.wait(lock, until: deadline)
    }
    if !wait.target.isDone, wait.suspicion == nil {
      lock.unlock()
      reportSlow(wait, subject)
      lock.lock()
      while !wait.target.isDone { wait.target.condition.wait(lock) }
    }
    end(wait)
    let (isDone, failure) = (wait.target.isDone, wait.target.failure)
    lock.unlock()
    try conclude(wait, isDone, failure, subject, isCancelled: false)
  }

  /// Suspends the task until a build ends.
  ///
  /// - Parameters:
  ///   - wait: what was allowed.
  ///   - subject: what is resolved, for messages.
  /// - Throws: what the builder failed with; a cycle that was only suspected, after a second;
  ///   `builderFailed` with a `CancellationError` when the task is cancelled.
  static func suspend(_ wait: Wait, _ subject: InjectError.Subject) async throws(InjectError) {
    let waiter = AsyncWaiter()
    lock.withLock {
      if wait.target.isDone { waiter.resume() } else { wait.target.waiters.append(waiter) }
    }
    let timer = Task.detached {
      try await Task.sleep(for: wait.patience)
      if wait.suspicion == nil { reportSlow(wait, subject) } else { waiter.resume() }
    }
    await withTaskCancellationHandler {
      await waiter.sleep()
    } onCancel: {
      waiter.resume()
    }
    timer.cancel()
    let (isDone, failure) = lock.withLock {
      end(wait)
      wait.target.waiters.removeAll { $0 === waiter }
      return (wait.target.isDone, wait.target.failure)
    }
    try conclude(wait, isDone, failure, subject, isCancelled: Task.isCancelled)
  }

  private static func conclude(
    _ wait: Wait, _ isDone: Bool, _ failure: InjectError?, _ subject: InjectError.Subject,
    isCancelled: Bool
  ) throws(InjectError) {
    if let failure { throw failure.passed(to: subject, path: wait.path) }
    guard !isDone else { return }
    if isCancelled {
      throw .builderFailed(
        subject, path: wait.path, wait.target.registration, CancellationError())
    }
    throw .cycle(subject, wait.suspicion ?? wait.builders)
  }

  private static func reportSlow(_ wait: Wait, _ subject: InjectError.Subject) {
    InjectDiagnostics.report(.slow(subject, path: wait.targetPath, wait.target.registration))
  }
}
