internal import Dispatch
internal import StorageCore

/// Runs async calls of the program that may never return, or may block their thread.
enum TimeLimit {
  /// Runs `body` on a thread of its own.
  ///
  /// - Throws: an error of `body`; `timedOut` after the limit; `CancellationError` after the task is
  ///   cancelled. In the last two cases the task of `body` is cancelled, and nobody waits for it.
  static func run<Success: Sendable>(
    _ limit: Duration, waitingFor awaited: String = "the provider of key material",
    _ body: @escaping @Sendable () async throws -> Success
  ) async throws -> Success {
    // The first of result, error and limit ends the stream. It may hold a secret until it is read.
    let (answers, answer) = AsyncThrowingStream.makeStream(
      of: Success.self, throwing: (any Error).self, bufferingPolicy: .bufferingOldest(1))
    let work = Task(executorPreference: OwnThread()) {
      do {
        answer.yield(try await body())
        answer.finish()
      } catch {
        answer.finish(throwing: error)
      }
    }
    defer { work.cancel() }
    let milliseconds = Int(min(max(limit, .zero), .seconds(86_400)) / .milliseconds(1))
    timers.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
      answer.finish(throwing: StorageError(.timedOut, "\(awaited) did not answer in time"))
    }
    for try await result in answers { return result }
    throw CancellationError()
  }

  private static let timers = DispatchQueue(label: "SecurePropertyStorage.LocalData.deadlines")

  /// Runs one task on a queue that gets a thread immediately, see `Blocking`.
  private final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "SecurePropertyStorage.LocalData.provider")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }
}
