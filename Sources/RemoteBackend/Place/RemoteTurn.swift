internal import Dispatch
internal import StorageCore

/// What one thread does at a time, while the others wait no longer than their calls may take.
///
/// A thread that waits for an engine which is away may do so for half a minute.
final class RemoteTurn: Sendable {
  private let free = DispatchSemaphore(value: 1)

  /// Runs `body` when it is the caller's turn.
  ///
  /// - Throws: `timedOut` when it was not until the deadline, or what `body` throws.
  func take<Result>(
    by deadline: Deadline, of engine: any RemoteEngine,
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let nanoseconds = Int(clamping: max(deadline.nanoseconds, 0))
    guard free.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success else {
      throw StorageError(
        .timedOut, "another thread waits for the servers, which did not answer in time; try again",
        path: engine.title)
    }
    defer { free.signal() }
    return try body()
  }
}
