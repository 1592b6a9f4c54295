import DefaultsBackend
import Foundation
import StorageCore
import TestSupport
import Testing

@Suite struct CrashTests {
  /// Kills a writer again and again, each time at another moment, and compares what it had said to
  /// have written with what is there.
  @Test func noAcknowledgedWriteIsLostAndNothingIsLeftWhenItsWriterIsKilled() throws {
    let rounds = Depth.count(1_000, day: 100)
    let folder = TemporaryFolder()
    let reader = folder.delegate()
    var next = 0
    var generator = SystemRandomNumberGenerator()
    for round in 0..<rounds {
      let child = try helper.start(["write-on", folder.path, "\(next)"])
      child.waitUntilItSpeaks(lines: .random(in: 1...4, using: &generator))
      usleep(UInt32.random(in: 0...3_000, using: &generator))
      child.kill()
      let acknowledged = try child.lines().compactMap { Int($0) }.last ?? next - 1
      try checkAll(upTo: acknowledged, in: reader, round: round)
      // The one after may have been written and not said.
      let after = try reader.record(for: name((acknowledged + 1) % 40))
      next = after.map { index(of: $0) } == acknowledged + 1 ? acknowledged + 2 : acknowledged + 1
    }
    #expect(next > rounds, "the children wrote too little for the test to mean much")
    try reader.set([1], for: name(1))
    #expect(folder.entries == ["suite.secure.plist", "suite.secure.plist.lock"])
  }

  private func checkAll(upTo last: Int, in reader: DefaultsDelegate, round: Int) throws {
    for index in max(0, last - 39)...max(0, last) where index <= last {
      let found = try reader.record(for: name(index % 40))
      // A name's record is this one, or the unacknowledged one after the last.
      let isThere = found == record(index) || (index == last - 39 && found == record(last + 1))
      guard isThere else {
        Issue.record("round \(round): write \(index) of \(last) is lost")
        return
      }
    }
  }

  @Test func aKillLosesNoUnsynchronizedWrite() throws {
    let folder = TemporaryFolder()
    #expect(try helper.run("set-unsynchronized", folder.path, "100") == ["set"])
    #expect(try folder.delegate().names().count == 100)
  }

  @Test(.enabled(if: Machine.hasStrace, "needs strace and the right to trace"))
  func anUnsynchronizedWriteDoesNotWaitForTheDiskAndAConditionalOneDoes() throws {
    let outcomes = [
      ("set-unsynchronized", ["set"]), ("check-unsynchronized", ["error io"]),
      ("set", ["error io"]),
    ]
    for (command, said) in outcomes {
      let child = try helper.start(
        [command, TemporaryFolder().path, "1", "1"],
        prefix: SystemFault("fsync", error: "EIO").prefix())
      #expect(try child.lines() == said)
    }
  }
}
