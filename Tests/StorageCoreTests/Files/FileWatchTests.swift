import Dispatch
import Foundation
import TestSupport
import Testing

@testable import StorageCore

/// What wakes a thread that watches a file.
struct FileWatchTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A writer may be killed after its change and before it could touch the file.
  @Test func aProcessThatIsKilledWithTheFileOpenIsNoticed() throws {
    let path = folder.file("notice").path
    #expect(FileManager.default.createFile(atPath: path, contents: Data([0])))
    let called = DispatchSemaphore(value: 0)
    let watch = FileWatch([.file(path)], threadName: "test") {
      called.signal()
      return .change
    }
    defer { watch.stop() }
    let writer = try Child(["sh", "-c", "exec 3<>\"$0\"; echo open; exec sleep 1000", path])
    writer.waitUntilItSpeaks()
    while called.wait(timeout: .now() + 0.3) == .success {}
    writer.kill()
    #expect(called.wait(timeout: .now() + 60) == .success)
  }
}
