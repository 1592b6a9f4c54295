import DefaultsBackend
import Foundation
import Glibc
import StorageCore
import TestSupport
import Testing

/// A suite is discarded whatever its file contains, and whoever uses it.
@Suite struct DiscardTests {
  private func storage(
    _ folder: TemporaryFolder, deadline: Duration = .seconds(60)
  ) -> UserDefaultsStorage {
    UserDefaultsStorage(folder.delegate(deadline: deadline), keySource: .key(sampleKey))
  }

  @Test(arguments: ["", "garbage", "bplist00", "<?xml version=\"1.0\"?>"])
  func whateverIsThereIsDiscarded(_ content: String) throws {
    let folder = TemporaryFolder()
    try Data(content.utf8).write(to: URL(fileURLWithPath: folder.file))
    let storage = storage(folder)
    #expect(code { _ = try storage.load(String.self, forKey: "key") } != nil)
    try storage.discard()
    #expect(folder.entries == [])
    #expect(try storage.load(String.self, forKey: "key") == nil)
    try storage.save("new", forKey: "key")
    #expect(try self.storage(folder).load(String.self, forKey: "key") == "new")
  }

  @Test func whatIsNoFileOfThisUserIsRefused() throws {
    let folder = TemporaryFolder()
    let kept = folder.path + "/kept"
    try Data("precious".utf8).write(to: URL(fileURLWithPath: kept))
    try FileManager.default.createSymbolicLink(
      atPath: folder.file, withDestinationPath: kept)
    #expect(code { try storage(folder).discard() } == .denied)
    try FileManager.default.removeItem(atPath: folder.file)
    try FileManager.default.createDirectory(
      atPath: folder.file, withIntermediateDirectories: false)
    #expect(code { try storage(folder).discard() } == .denied)
    #expect(folder.entries == ["kept", "suite.secure.plist"])
  }

  @Test func aSuiteThatSomebodyKeepsLockedIsBusyAndStays() throws {
    let folder = TemporaryFolder()
    try storage(folder).save("old", forKey: "key")
    let lock = try FileLock(folder.file + ".lock", waiting: .seconds(1))
    #expect(code { try storage(folder, deadline: .milliseconds(100)).discard() } == .busy)
    _ = consume lock
    #expect(try storage(folder).load(String.self, forKey: "key") == "old")
  }

  @Test(.enabled(if: Machine.hasStrace, "needs strace and the right to trace"))
  func aProcessThatIsKilledLeavesTheOldSuiteOrNone() throws {
    let fault = SystemFault.kill(
      before: "write,fsync,fdatasync,link,linkat,unlink,unlinkat,rename,renameat")
    var folder = TemporaryFolder()
    var found: [String?: Int] = [:]
    try fault.each { prefix in
      folder = TemporaryFolder()
      try storage(folder).save("old", forKey: "key")
      return try helper.run("discard", folder.path, prefix: prefix)
    } check: { run in
      found[try storage(folder).load(String.self, forKey: "key"), default: 0] += 1
      let last = storage(folder)
      try last.discard()
      try last.save("new", forKey: "key")
      #expect(try storage(folder).load(String.self, forKey: "key") == "new", "\(run)")
    }
    #expect(found.count == 2 && found["old"] ?? 0 > 0 && found[nil] ?? 0 > 0, "\(found)")
  }
}
