import CryptoCore
import DefaultsBackend
import Foundation
import Glibc
import StorageCore
import TestSupport
import Testing

/// Lock files that are held, or removed, while somebody waits for them.
@Suite(.serialized) struct LockFileTests {
  private let folder = TemporaryFolder()
  private var lockPath: String { folder.file + ".lock" }

  /// Changes the header in a thread of its own.
  private func change(_ deadline: Duration) -> Change {
    let change = Change()
    let delegate = folder.delegate(deadline: deadline)
    Thread.detachNewThread {
      let failure = code { _ = try delegate.updateHeader { header, _ in header = [1] } }
      change.outcome.withLock { $0 = failure }
      change.isDone.signal()
    }
    return change
  }

  private final class Change: Sendable {
    let outcome = Lock<StorageError.Code?>(nil)
    let isDone = DispatchSemaphore(value: 0)
  }

  @Test func aLockThatIsRemovedWhileItIsWaitedForIsTakenAnew() throws {
    let first = try FileLock(lockPath, waiting: .zero)
    let change = change(.milliseconds(800))
    usleep(100_000)
    try FileManager.default.removeItem(atPath: lockPath)
    let second = try FileLock(lockPath, waiting: .zero)
    _ = consume first
    change.isDone.wait()
    #expect(change.outcome.withLock { $0 } == .busy, "two hold the lock")
    #expect(try folder.delegate().header().header == nil)
    _ = consume second
  }

  @Test func writersThatWaitForOneLockDontWaitForEachOthersDeadline() throws {
    let folder = TemporaryFolder()
    let delegate = folder.delegate(deadline: .milliseconds(500))
    let lock = try FileLock(folder.file + ".lock", waiting: .zero)
    let codes = Lock<[StorageError.Code?]>([])
    for index in 0..<8 {
      Thread.detachNewThread {
        let found = code { try delegate.set([1], for: name(index)) }
        codes.withLock { $0.append(found) }
      }
    }
    #expect(waits(.seconds(60)) { codes.withLock { $0.count } == 8 })
    #expect(codes.withLock { $0 } == Array(repeating: .busy, count: 8))
    _ = consume lock
  }
}
