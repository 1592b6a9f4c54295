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
  /// - Returns: what the builder failed with, or nil.
  static func hold(_ wait: Wait, _ subject: InjectError.Subject) -> InjectError? {
    let deadline = Deadline(in: InjectDiagnostics.patience)
    lock.lock()
    var isInTime = true
    while !wait.target.isDone, isInTime {
      isInTime = wait.target.condition.wait(lock, until: deadline)
    }
    if !wait.target.isDone {
      lock.unlock()
      reportSlow(wait, subject)
      lock.lock()
      while !wait.target.isDone { wait.target.condition.wait(lock) }
    }
    end(wait)
    let failure = wait.target.failure
    lock.unlock()
    return failure?.passed(to: subject, path: wait.path)
  }

  /// Suspends the task until a build ends.
  ///
  /// - Parameters:
  ///   - wait: what was allowed.
  ///   - subject: what is resolved, for messages.
  /// - Returns: what the builder failed with; `builderFailed` with a `CancellationError` when the
  ///   task is cancelled; otherwise nil.
  static func suspend(_ wait: Wait, _ subject: InjectError.Subject) async -> InjectError? {
    let waiter = AsyncWaiter()
    lock.withLock {
      if wait.target.isDone { waiter.resume() } else { wait.target.waiters.append(waiter) }
    }
    let timer = Task.detached {
      try await Task.sleep(for: InjectDiagnostics.patience)
      reportSlow(wait, subject)
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
    if let failure { return failure.passed(to: subject, path: wait.path) }
    // Only a cancelled task wakes before the build has ended.
    guard !isDone else { return nil }
    return .builderFailed(
      subject, path: wait.path, wait.target.registration, CancellationError())
  }

  private static func reportSlow(_ wait: Wait, _ subject: InjectError.Subject) {
    let path = Builds.slowPath(of: wait).map(\.name)
    InjectDiagnostics.report(.slow(subject, path: path, wait.target.registration))
  }
}
