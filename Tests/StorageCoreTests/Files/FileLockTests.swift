import CryptoCore
import Foundation
import StorageCore
import Testing

@Suite struct FileLockTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("lock").path }

  init() throws { folder = try TemporaryFolder() }

  /// Takes the lock in a thread of its own, and says how that ended.
  private func waiter(_ path: String, _ deadline: Duration) -> Waiter {
    let waiter = Waiter()
    Thread.detachNewThread {
      let failure = code {
        let lock = try FileLock(path, waiting: deadline)
        waiter.isHeld.withLock { $0 = true }
        _ = consume lock
      }
      waiter.code.withLock { $0 = failure }
      waiter.isDone.signal()
    }
    return waiter
  }

  private final class Waiter: Sendable {
    let isHeld = Lock(false)
    let code = Lock<StorageError.Code?>(nil)
    let isDone = DispatchSemaphore(value: 0)
  }

  @Test func whoWaitsForALockFileThatIsRemovedTakesTheNewOneWhenItIsFree() throws {
    let first = try FileLock(path, waiting: .zero)
    let waiter = waiter(path, .seconds(60))
    usleep(100_000)
    try FileManager.default.removeItem(atPath: path)
    let second = try FileLock(path, waiting: .zero)
    _ = consume first
    usleep(300_000)
    #expect(!waiter.isHeld.withLock { $0 }, "two hold the lock")
    _ = consume second
    waiter.isDone.wait()
    #expect(waiter.isHeld.withLock { $0 })
    #expect(waiter.code.withLock { $0 } == nil)
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test func whoWaitsForATaskThatIsCancelledWaitsNoLonger() throws {
    let held = try FileLock(path, waiting: .zero)
    let cancellation = Cancellation()
    let isDone = DispatchSemaphore(value: 0)
    let failure = Lock<StorageError.Code?>(nil)
    Thread.detachNewThread { [path] in
      let found = code { _ = try FileLock(path, waiting: .seconds(600), cancellation) }
      failure.withLock { $0 = found }
      isDone.signal()
    }
    usleep(50_000)
    cancellation.cancel()
    isDone.wait()
    #expect(failure.withLock { $0 } == .cancelled)
    _ = consume held
  }

  @Test func aLockFileThatIsReplacedAllTheTimeEndsAtTheDeadline() throws {
    let isDone = Lock(false)
    let (path, other) = (path, folder.file("other").path)
    Thread.detachNewThread {
      while !isDone.withLock({ $0 }) {
        _ = FileManager.default.createFile(atPath: other, contents: nil)
        _ = unsafe rename(other, path)
      }
    }
    for _ in 0..<20 { _ = code { _ = try FileLock(path, waiting: .milliseconds(50)) } }
    isDone.withLock { $0 = true }
  }
}
