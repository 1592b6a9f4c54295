import CryptoCore
import DefaultsBackend
import Foundation
import Glibc
import StorageCore
import TestSupport
import Testing

/// Lock files that are held, or removed, while the header is changed.
@Suite(.serialized) struct LockFileTests {
  private let folder = TemporaryFolder()
  private var lockPath: String { folder.file + ".lock" }
  private var headerLockPath: String { folder.file + ".header.lock" }

  /// Changes the header in a thread of its own.
  private func change(_ deadline: Duration) -> Change {
    let change = Change()
    let delegate = folder.delegate(deadline: deadline)
    Thread.detachNewThread {
      let start = ContinuousClock.now
      let failure = code { _ = try delegate.updateHeader { header, _ in header = [1] } }
      change.outcome.withLock { $0 = (failure, start.duration(to: .now)) }
      change.isDone.signal()
    }
    return change
  }

  private final class Change: Sendable {
    let outcome = Lock<(code: StorageError.Code?, time: Duration)>((nil, .zero))
    let isDone = DispatchSemaphore(value: 0)
  }

  /// A lock of the header as another process would hold it.
  private func holdHeader() throws -> LockFile {
    try LockFile.locking([0], of: headerLockPath, waiting: .zero)
  }

  @Test func allWaitsOfAHeaderChangeShareOneDeadline() throws {
    let header = try holdHeader()
    let file = try FileLock(lockPath, waiting: .zero)
    // Long, so that one deadline and two are apart on a busy machine, too.
    let change = change(.seconds(4))
    usleep(3_600_000)
    _ = consume header
    change.isDone.wait()
    #expect(change.outcome.withLock { $0.code } == .busy)
    let time = change.outcome.withLock { $0.time }
    #expect(time < .milliseconds(7_500), "it took \(time)")
    _ = consume file
  }

  @Test func aHeaderLockThatIsRemovedWhileItIsWaitedForIsTakenAnew() throws {
    let first = try holdHeader()
    let change = change(.milliseconds(800))
    usleep(100_000)
    try FileManager.default.removeItem(atPath: headerLockPath)
    let second = try holdHeader()
    _ = consume first
    change.isDone.wait()
    #expect(change.outcome.withLock { $0.code } == .busy, "two hold the lock")
    #expect(try folder.delegate().header().header == nil)
    _ = consume second
  }

  @Test func noWriteWaitsInMemoryUnderAHeaderLockThatIsGone() throws {
    let delegate = folder.delegate(.waiting)
    try delegate.set([1], for: name(1))
    #expect(folder.bytes == nil)
    try FileManager.default.removeItem(atPath: headerLockPath)
    try delegate.set([2], for: name(2))
    #expect(try helper.run("count", folder.path) == ["2"])
    // The next one holds the new lock.
    let bytes = folder.bytes
    try delegate.set([3], for: name(3))
    #expect(folder.bytes == bytes)
    #expect(FileManager.default.fileExists(atPath: headerLockPath))
    try delegate.flush()
  }
}
