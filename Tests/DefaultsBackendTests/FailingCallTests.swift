import DefaultsBackend
import Foundation
import StorageCore
import TestSupport
import Testing

/// System calls on the suite's files fail in turn, by strace's fault injection.
@Suite(.enabled(if: Machine.hasStrace, "needs strace and the right to trace"))
struct FailingCallTests {
  struct Fault: Sendable, CustomTestStringConvertible {
    let call: String
    let error: String
    /// What a write may say when the call fails.
    let codes: Set<String>
    var testDescription: String { "\(call) \(error)" }
  }

  static let faults = [
    Fault(call: "fsync", error: "EIO", codes: ["io", "outcomeUnknown"]),
    Fault(call: "write", error: "EIO", codes: ["io"]),
    Fault(call: "write", error: "ENOSPC", codes: ["full"]),
    Fault(call: "rename,renameat,renameat2", error: "EIO", codes: ["io"]),
    Fault(call: "rename,renameat,renameat2", error: "EROFS", codes: ["readOnly"]),
    Fault(call: "openat", error: "EIO", codes: ["io", "outcomeUnknown"]),
    Fault(call: "openat", error: "ENOSPC", codes: ["full", "outcomeUnknown"]),
    Fault(call: "openat", error: "EMFILE", codes: ["io", "outcomeUnknown"]),
    Fault(call: "fcntl", error: "ENOLCK", codes: ["unsupported"]),
    Fault(call: "pread64", error: "EIO", codes: ["io"]),
    Fault(call: "unlink,unlinkat", error: "EIO", codes: ["io"]),
    Fault(call: "stat,fstat,newfstatat", error: "EIO", codes: ["io"]),
  ]

  @Test(arguments: faults) func everyFailingCallLeavesTheOldStateOrTheNew(_ fault: Fault) throws {
    var failures = 0
    for occurrence in Depth.steps(1...10) {
      let folder = TemporaryFolder()
      try folder.delegate().set(record(1), for: name(1))
      let answer = try helper.run(
        "set", folder.path, "1", "2", prefix: Self.inject(fault, at: occurrence, in: folder))
      let said = try #require(answer.first, "the child died")
      let found = try folder.delegate().record(for: name(1))
      if said == "set" {
        #expect(found == record(2), "acknowledged, with \(fault.call) \(occurrence) failing")
      } else {
        failures += 1
        let code = String(said.dropFirst("error ".count))
        #expect(fault.codes.contains(code), "\(fault.call) \(occurrence): \(said)")
        let allowed = code == "outcomeUnknown" ? [record(1), record(2)] : [record(1)]
        #expect(found.map { allowed.contains($0) } == true, "\(fault.call) \(occurrence)")
      }
      #expect(try helper.run("set", folder.path, "1", "3") == ["set"], "it does not recover")
    }
    #expect(failures > 0 || fault.call.hasPrefix("unlink"), "no call was hit")
  }

  private static func inject(
    _ fault: Fault, at occurrence: Int, in folder: TemporaryFolder
  ) -> [String] {
    let names = ["", ".new", ".lock"].flatMap { ["-P", folder.file + $0] }
    return ["strace", "-f", "-qq", "-o", "/dev/null", "-P", folder.path] + names + [
      "-e", "trace=\(fault.call)", "-e",
      "inject=\(fault.call):error=\(fault.error):when=\(occurrence)",
    ]
  }

  /// Killed before each step of its first start, a program finds its key and no other one.
  @Test func aProgramThatIsKilledWhileItMakesItsKeyStartsAgain() throws {
    var kills = 0
    for occurrence in Depth.steps(1...40) {
      let folder = TemporaryFolder()
      let environment: [String: String?] = [
        "XDG_CONFIG_HOME": folder.path + "/config", "XDG_DATA_HOME": folder.path + "/data",
        "CREDENTIALS_DIRECTORY": nil, "STATE_DIRECTORY": nil,
      ]
      let calls = "fsync,link,linkat,unlink,unlinkat,rename,renameat"
      let kill = [
        "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(calls)",
        "-e", "inject=\(calls):signal=KILL:when=\(occurrence)",
      ]
      let said = try helper.run("standard", "-", "app", prefix: kill, environment: environment)
      let again = try helper.run("standard", "-", "app", environment: environment)
      #expect(again == ["value"], "killed before step \(occurrence)")
      let made = folder.path + "/data/app/master.key.made"
      #expect(FileManager.default.fileExists(atPath: made), "killed before step \(occurrence)")
      if said == ["value"] { break }
      kills += 1
    }
    #expect((Depth.count(8, day: 2)..<40).contains(kills), "\(kills) steps")
  }

  @Test func theNewFileIsDurableBeforeItTakesItsPlaceAndTheFolderBeforeTheAnswer() throws {
    let folder = TemporaryFolder()
    try folder.delegate().set(record(1), for: name(1))
    let log = TemporaryFolder().path + "/log"
    let calls = "trace=fsync,fdatasync,rename,renameat,renameat2,write"
    let prefix = ["strace", "-f", "-y", "-qq", "-o", log, "-e", calls]
    #expect(try helper.run("set", folder.path, "1", "2", prefix: prefix) == ["set"])
    let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
    // Each step behind the one before; the fsync(2) of a folder that a read makes comes first.
    let steps: [(Substring) -> Bool] = [
      { $0.contains("write(") && $0.contains("suite.secure.plist.new>") },
      { $0.contains("fsync(") && $0.contains("suite.secure.plist.new>") },
      { $0.contains("rename") && $0.contains("suite.secure.plist.new\"") },
      { $0.contains("fsync(") && $0.contains("<\(folder.path)>") },
      { $0.contains("write(") && $0.contains("\"set\\n\"") },
    ]
    var rest = lines[...]
    for (number, step) in steps.enumerated() {
      let place = try #require(rest.firstIndex(where: step), "step \(number) is missing")
      rest = rest[(place + 1)...]
    }
  }

  @Test func aReaderDoesNotWaitForAWritersSync() throws {
    let folder = TemporaryFolder()
    try folder.delegate().set(record(1), for: name(1))
    let answer = try helper.run(
      "read-while-writing", folder.path,
      prefix: [
        "strace", "-f", "-qq", "-o", "/dev/null", "-P", folder.file + ".new", "-e",
        "trace=fsync", "-e", "inject=fsync:delay_enter=5000000",
      ])
    let times = try #require(answer.first).split(separator: " ").map { Double($0)! }
    #expect(times[0] < 4_000, "the slowest read took \(times[0]) ms")
    #expect(times[1] < 4_000, "the write was seen \(times[1]) ms before it was durable")
  }
}
