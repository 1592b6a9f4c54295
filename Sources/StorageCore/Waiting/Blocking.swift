internal import CryptoCore
internal import Dispatch

/// Runs blocking calls on dedicated threads, because Swift concurrency has only one thread per
/// core.
package enum Blocking {
  /// Idle executors, kept for reuse.
  private static let idle = Lock<[BlockingExecutor]>([])

  /// Runs `body` on a thread that may block, as part of the current task.
  ///
  /// Cancelling the task cancels the ``Cancellation`` that `body` sees as `Cancellation.current`.
  package static func run<Success: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    let cancellation = Cancellation()
    let start = ContinuousClock.now
    let executor = idle.withLock { $0.popLast() } ?? BlockingExecutor()
    defer { idle.withLock { $0.append(executor) } }
    // withTaskCancellationHandler can rethrow only `any Error`, hence the Result.
    let result = await withTaskCancellationHandler {
      await withTaskExecutorPreference(executor) {
        cancellation.delay(by: start.duration(to: .now))
        return Cancellation.$current.withValue(cancellation) { Result(catching: body) }
      }
    } onCancel: {
      cancellation.cancel()
    }
    return try result.get()
  }
}

/// Runs a task's jobs on a thread that may block.
///
/// The task stays the same and keeps its task-local values. An injection override or a test's own
/// stores therefore also apply inside the body.
///
/// Each executor has its own serial queue. Dispatch gives such a queue a thread at once, up to 255
/// threads. A concurrent queue takes its threads from the pool that Swift tasks also use. That pool
/// grows by one thread a second, so fifty blocked calls would block it for about fifty seconds.
private final class BlockingExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "SecurePropertyStorage.blocking")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
