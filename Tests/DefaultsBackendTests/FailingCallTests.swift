import DefaultsBackend
import Foundation
import StorageCore
import TestSupport
import Testing

/// System calls on the suite's files fail in turn, by strace's fault injection.
@Suite(.enabled(if: Machine.hasStrace, "needs strace and the right to trace"))
struct FailingCallTests {
  static let faults = [
    SystemFault("fsync", error: "EIO", says: "io", "outcomeUnknown"),
    SystemFault("write", error: "EIO", says: "io"),
    SystemFault("write", error: "ENOSPC", says: "full"),
    SystemFault("rename,renameat,renameat2", error: "EIO", says: "io"),
    SystemFault("rename,renameat,renameat2", error: "EROFS", says: "readOnly"),
    SystemFault("openat", error: "EIO", says: "io", "outcomeUnknown"),
    SystemFault("openat", error: "ENOSPC", says: "full", "outcomeUnknown"),
    SystemFault("openat", error: "EMFILE", says: "io", "outcomeUnknown"),
    SystemFault("fcntl", error: "ENOLCK", says: "unsupported"),
    SystemFault("pread64", error: "EIO", says: "io"),
    SystemFault("unlink,unlinkat", error: "EIO", says: "io"),
    SystemFault("stat,fstat,newfstatat", error: "EIO", says: "io"),
  ]

  @Test(arguments: faults) func everyFailingCallLeavesTheOldStateOrTheNew(
    _ fault: SystemFault
  ) throws {
    let folder = TemporaryFolder()
    let paths = [folder.path] + ["", ".new", ".lock"].map { folder.file + $0 }
    let (_, failures) = try fault.each(of: paths) { prefix in
      for name in folder.entries {
        try FileManager.default.removeItem(atPath: folder.path + "/" + name)
      }
      try folder.delegate().set(record(1), for: name(1))
      return try helper.run("set", folder.path, "1", "2", prefix: prefix)
    } check: { run in
      #expect(run.isNamed && !run.said.isEmpty, "\(run)")
      let found = try folder.delegate().record(for: name(1))
      #expect(run.allows(found, old: record(1), new: record(2)), "\(run)")
      #expect(try helper.run("set", folder.path, "1", "3") == ["set"], "it does not recover")
    }
    #expect(failures > 0 || fault.calls.hasPrefix("unlink"), "no call failed")
  }

  /// Killed before each step of its first start, a program finds its key and no other one.
  @Test func aProgramThatIsKilledWhileItMakesItsKeyStartsAgain() throws {
    var folder = TemporaryFolder()
    var environment: [String: String?] {
      [
        "XDG_CONFIG_HOME": folder.path + "/config", "XDG_DATA_HOME": folder.path + "/data",
        "CREDENTIALS_DIRECTORY": nil, "STATE_DIRECTORY": nil,
      ]
    }
    let fault = SystemFault.kill(before: "fsync,link,linkat,unlink,unlinkat,rename,renameat")
    let (kills, _) = try fault.each { prefix in
      folder = TemporaryFolder()
      return try helper.run("standard", "-", "app", prefix: prefix, environment: environment)
    } check: { run in
      let again = try helper.run("standard", "-", "app", environment: environment)
      #expect(again == ["value"], "\(run)")
      let made = folder.path + "/data/app/master.key.made"
      #expect(FileManager.default.fileExists(atPath: made), "\(run)")
    }
    #expect((Depth.count(8, day: 1)..<40).contains(kills), "\(kills) steps")
  }

  @Test func theNewFileIsDurableBeforeItTakesItsPlaceAndTheFolderBeforeTheAnswer() throws {
    let folder = TemporaryFolder()
    try folder.delegate().set(record(1), for: name(1))
    let (said, lines) = try SystemFault.list("fsync,fdatasync,rename,renameat,renameat2,write") {
      try helper.run("set", folder.path, "1", "2", prefix: $0)
    }
    #expect(said == ["set"])
    // Each step behind the one before; the fsync(2) of a folder that a read makes comes first.
    let steps = [
      ("write(", "suite.secure.plist.new>"), ("fsync(", "suite.secure.plist.new>"),
      ("rename", "suite.secure.plist.new\""), ("fsync(", "<\(folder.path)>"),
      ("write(", "\"set\\n\""),
    ]
    var rest = lines[...]
    for (call, file) in steps {
      let place = try #require(
        rest.firstIndex { $0.contains(call) && $0.contains(file) }, "\(call) \(file) is missing")
      rest = rest[(place + 1)...]
    }
  }
}
