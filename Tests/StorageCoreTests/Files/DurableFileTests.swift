import CryptoCore
import Foundation
import TestSupport
import Testing

@testable import StorageCore

@Suite struct DurableFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func made(_ path: String) throws -> Bool {
    try unsafe DurableFile.createIfAbsent(path, with: ([1] as [UInt8]).span.bytes)
  }

  private let getLockOfDescription: Int32 = 36  // F_OFD_GETLK

  /// Closing a file drops all locks that the process has on it, whoever took them: fcntl(2).
  @Test func whoMakesAFileTakesNobodysLockOnIt() throws {
    var lost = 0
    for round in 0..<200 {
      let path = folder.file("file-\(round)").path
      Threads.run(
        1,
        meanwhile: {
          do {
            #expect(try made(path))
          } catch {
            Issue.record(error)
          }
        },
        { _ in
          // As soon as it is there.
          var descriptor: Int32 = -1
          while descriptor < 0 { descriptor = unsafe open(path, O_RDWR | O_CLOEXEC) }
          var lock = flock(
            l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 1, l_pid: 0)
          #expect(unsafe fcntl(descriptor, F_SETLK, &lock) == 0)
        })
      // An open file description conflicts with the locks of its own process, too.
      let other = unsafe open(path, O_RDWR | O_CLOEXEC)
      var lock = flock(
        l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 1, l_pid: 0)
      #expect(unsafe fcntl(other, getLockOfDescription, &lock) == 0)
      if lock.l_type == Int16(F_UNLCK) { lost += 1 }
    }
    #expect(lost == 0)
  }

  /// 64 bits of nanoseconds end in 2262.
  @Test(arguments: [Int.min / 2, -1, 10_413_792_000, 1 << 60])
  func aFileMayBeOfAnyTime(_ seconds: Int) throws {
    let path = folder.file("file").path
    #expect(try made(path))
    let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
    // The file system may know of fewer years, and give the nearest.
    #expect(unsafe utimensat(AT_FDCWD, path, times, 0) == 0)
    #expect(try FileStatus.of(path)?.size == 1)
    #expect(try FileStatus.ofEntry(path) == FileStatus.of(path))
  }
}
