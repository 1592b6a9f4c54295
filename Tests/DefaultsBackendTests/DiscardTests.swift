import DefaultsBackend
import Foundation
import Glibc
import StorageCore
import TestSupport
import Testing

/// A suite is discarded whatever its file contains, and whoever uses it.
@Suite struct DiscardTests {
  private func storage(
    _ folder: TemporaryFolder, _ source: KeySource = .key(sampleKey),
    _ durability: DefaultsDurability = .immediate, deadline: Duration = .seconds(60)
  ) -> UserDefaultsStorage {
    UserDefaultsStorage(folder.delegate(durability, deadline: deadline), keySource: source)
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
    let calls = [
      "write", "fsync", "fdatasync", "link", "linkat", "unlink", "unlinkat", "rename", "renameat",
    ]
    var found: [String?: Int] = [:]
    for call in calls {
      var step = 1
      while true {
        let folder = TemporaryFolder()
        try storage(folder).save("old", forKey: "key")
        let said = try helper.start(
          ["discard", folder.path],
          prefix: [
            "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
            "inject=\(call):signal=KILL:when=\(step)",
          ]
        ).lines()
        found[try storage(folder).load(String.self, forKey: "key"), default: 0] += 1
        let last = storage(folder)
        try last.discard()
        try last.save("new", forKey: "key")
        #expect(
          try storage(folder).load(String.self, forKey: "key") == "new",
          "killed before \(call) \(step)")
        if said == ["discarded"] { break }
        step += 1
      }
    }
    let (old, none) = (found["old"] ?? 0, found[nil] ?? 0)
    #expect(found.count == 2 && old > 0 && none > calls.count, "\(found)")
  }
}
