import CryptoCore
import DefaultsBackend
import Foundation
import StorageCore
import TestSupport
import Testing

/// A lock file that is held while many wait for it.
@Suite struct LockFileTests {
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
