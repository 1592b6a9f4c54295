internal import CryptoCore
internal import Dispatch
internal import StorageCore

/// Runs async calls of the program that may never return, or may block their thread.
enum Deadline {
  /// Runs `body` on a thread of its own.
  ///
  /// - Throws: an error of `body`; `timedOut` after the deadline; `CancellationError` after the
  ///   task is cancelled. In the last two cases the task of `body` is cancelled, and nobody waits
  ///   for it.
  static func run<Success: Sendable>(
    within deadline: Duration, waitingFor awaited: String = "the provider of key material",
    _ body: @escaping @Sendable () async throws -> Success
  ) async throws -> Success {
    let answer = Answer<Success>()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        answer.wait(by: continuation)
        let work = Task(executorPreference: OwnThread()) {
          do {
            answer.settle(.success(try await body()))
          } catch {
            answer.settle(.failure(error))
          }
        }
        answer.onEnd { work.cancel() }
        let limit = DispatchTimeInterval.milliseconds(
          Int(min(max(deadline, .zero), .seconds(86_400)) / .milliseconds(1)))
        timers.asyncAfter(deadline: .now() + limit) {
          answer.settle(
            .failure(
              StorageError(.timedOut, "\(awaited) did not answer in time")))
        }
      }
    } onCancel: {
      answer.settle(.failure(CancellationError()))
    }
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

  /// The first result; it ends the waiting.
  private final class Answer<Success: Sendable>: Sendable {
    private struct State {
      var continuation: CheckedContinuation<Success, any Error>?
      /// A result that arrived before the wait; it may be a secret, and is dropped after delivery.
      var result: Result<Success, any Error>?
      var isOver = false
      var end: (@Sendable () -> Void)?
    }
    private let state = Lock(State())

    func wait(by continuation: CheckedContinuation<Success, any Error>) {
      let result = state.withLock { state in
        if !state.isOver { state.continuation = continuation }
        defer { state.result = nil }
        return state.result
      }
      if let result { continuation.resume(with: result) }
    }

    func onEnd(_ end: @escaping @Sendable () -> Void) {
      let isOver = state.withLock { state in
        if !state.isOver { state.end = end }
        return state.isOver
      }
      if isOver { end() }
    }

    func settle(_ result: Result<Success, any Error>) {
      let waiting = state.withLock { state -> State? in
        guard !state.isOver else { return nil }
        let waiting = state
        state = State(result: waiting.continuation == nil ? result : nil, isOver: true)
        return waiting
      }
      waiting?.continuation?.resume(with: result)
      waiting?.end?()
    }
  }
}
