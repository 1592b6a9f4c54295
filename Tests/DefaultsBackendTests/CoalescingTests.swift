import CryptoCore
import DefaultsBackend
import Foundation
import StorageCore
import TestSupport
import Testing

@Suite(.serialized) struct CoalescingTests {
  @Test func aWriteIsSeenAtOnceBeforeItIsInTheFile() throws {
    let folder = TemporaryFolder()
    let delegate = folder.delegate(.waiting)
    for index in 0..<100 { try delegate.set(record(index), for: name(index)) }
    #expect(folder.bytes == nil)
    #expect(try delegate.record(for: name(99)) == record(99))
    #expect(try delegate.names().count == 100)
    try delegate.flush()
    #expect(try helper.run("count", folder.path) == ["100"])
  }

  @Test func aWriteIsInTheFileSoonAfterItsTimeAndNeverLaterThanTheLongest() throws {
    let folder = TemporaryFolder()
    // The longest is two seconds, however much is asked for.
    let delegate = DefaultsDelegate(
      folder: folder.path, suiteName: "suite", durability: .waiting, deadline: .seconds(60))
    for index in 0..<100 { try delegate.set(record(index), for: name(index)) }
    #expect(waits(.seconds(60)) { folder.bytes != nil })
    #expect(try helper.run("count", folder.path) == ["100"])
  }

  @Test func flushMakesEverythingDurable() throws {
    let folder = TemporaryFolder()
    let delegate = folder.delegate(.waiting)
    try delegate.set([1], for: name(1))
    try delegate.set([2], for: name(2))
    try delegate.remove(name(1))
    try delegate.flush()
    #expect(try helper.run("count", folder.path) == ["1"])
    let bytes = folder.bytes
    try delegate.flush()
    #expect(folder.bytes == bytes)
  }

  @Test func aConditionalWriteTakesTheWaitingOnesWithIt() throws {
    let folder = TemporaryFolder()
    let delegate = folder.delegate(.waiting)
    try delegate.set([1], for: name(1))
    #expect(try delegate.setIfAbsent([9], for: name(1)) == false)
    #expect(try delegate.setIfAbsent([2], for: name(2)))
    #expect(try helper.run("count", folder.path) == ["2"])
    #expect(try delegate.record(for: name(1)) == [1])
  }

  @Test func anotherProcesssAbsenceIsJudgedByTheFile() throws {
    let folder = TemporaryFolder()
    let delegate = folder.delegate(.waiting)
    try delegate.set([1], for: name(1))
    #expect(try helper.run("set", folder.path, "2", "3") == ["set"])
    #expect(try delegate.setIfAbsent([9], for: name(2)) == false)
    #expect(try delegate.record(for: name(2)) == record(3))
  }

  @Test func aChangeOfTheHeaderWritesWhatWaitsFirst() throws {
    let folder = TemporaryFolder()
    let delegate = folder.delegate(.waiting)
    let version = try delegate.updateHeader { header, _ in header = [1] }
    try delegate.set([1], for: name(1))
    var seen: [NameHash: [UInt8]] = [:]
    let next = try delegate.updateHeader { (header, records) throws(StorageError) in
      try records.visit { seen[$0] = $1 }
      header = [2]
    }
    #expect(seen == [name(1): [1]])
    let write = RecordWrite([2], for: name(1))
    #expect(try delegate.commit(write, headerVersion: version) == .headerChanged)
    #expect(try delegate.commit(write, headerVersion: next) == .committed)
    try delegate.flush()
  }

  @Test func aChangeOfTheHeaderWaitsForAnotherProcesssWaitingWrites() throws {
    let folder = TemporaryFolder()
    let delegate = folder.delegate()
    _ = try delegate.updateHeader { header, _ in header = [1] }
    let child = try helper.start(["coalesce-until-told", folder.path])
    child.waitUntilItSpeaks()
    #expect(try delegate.record(for: name(1)) == nil)
    var seen: [NameHash: [UInt8]] = [:]
    _ = try delegate.updateHeader { (header, records) throws(StorageError) in
      try records.visit { seen[$0] = $1 }
      header = [2]
    }
    // The keys that it was sealed under were still there when it was written.
    #expect(seen == [name(1): record(1)])
    child.release()
    let said = try child.lines()
    #expect(said == ["set"])
  }

  @Test func aForkedChildLeavesTheWritesThatWaitToItsParent() throws {
    let folder = TemporaryFolder()
    #expect(try helper.run("fork-coalesced", folder.path) == ["exited(10)"])
    // The child's own write is there, and none of the parent's was undone.
    #expect(try folder.delegate().record(for: name(1)) == record(2))
    #expect(try folder.delegate().record(for: name(2)) == record(3))
  }

  @Test func aWriteThatIsRefusedKeepsNobodyFromChangingTheHeader() throws {
    let folder = TemporaryFolder()
    let delegate = folder.delegate(.waiting)
    let version = try delegate.updateHeader { header, _ in header = [1] }
    #expect(try helper.run("header", folder.path, "2") == ["header"])
    let write = RecordWrite([1], for: name(1))
    #expect(try delegate.commit(write, headerVersion: version) == .headerChanged)
    #expect(try helper.run("header", folder.path, "3") == ["header"])
  }

  @Test func processesThatCoalesceAllTheTimeDontKeepOneFromChangingTheHeader() throws {
    let folder = TemporaryFolder()
    let children = try (0..<2).map { _ in try helper.start(["coalesce-on", folder.path]) }
    for child in children { child.waitUntilItSpeaks() }
    for byte in 1...3 as ClosedRange<UInt8> {
      _ = try folder.delegate().updateHeader { header, _ in header = [byte] }
    }
    for child in children {
      child.kill()
      let said = try child.lines()
      #expect(said.allSatisfy { !$0.hasPrefix("error") })
    }
  }

  @Test func afterAFailedFlushNothingIsLostAndTheCallerGetsTheNextError() throws {
    let reported = Lock<[StorageError]>([])
    HandlerTurn.begin()
    defer { HandlerTurn.end() }
    let handler = StorageDiagnostics.handler
    StorageDiagnostics.handler = { error in reported.withLock { $0.append(error) } }
    defer { StorageDiagnostics.handler = handler }
    let folder = TemporaryFolder()
    // In the way of the file that is written before it takes its place.
    let obstacle = folder.file + ".new"
    try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
    let delegate = folder.delegate(.coalesced(within: .milliseconds(10)))
    try delegate.set([1], for: name(1))
    #expect(waits(.seconds(60)) { reported.withLock { $0.contains { $0.path == folder.file } } })
    #expect(code { try delegate.set([2], for: name(2)) } == .io)
    #expect(code { try delegate.flush() } == .io)
    #expect(try delegate.record(for: name(1)) == [1])
    #expect(try delegate.record(for: name(2)) == nil)
    try FileManager.default.removeItem(atPath: obstacle)
    // By the retry, without being asked.
    #expect(waits(.seconds(60)) { folder.bytes != nil })
    #expect(try helper.run("count", folder.path) == ["1"])
  }

  @Test func whileTheFileIsDamagedNothingMoreIsAcknowledged() throws {
    let folder = TemporaryFolder()
    // Neither writes by itself before the flush fails, and then the flush is tried again.
    let delegate = folder.delegate(.waiting)
    try delegate.set([1], for: name(1))
    try delegate.flush()
    let good = try #require(folder.bytes)
    // Accepted before anybody knows, and never after the first attempt to write it.
    let version = try delegate.header().version
    let write = RecordWrite([2], for: name(2))
    let slow = folder.delegate(.waiting)
    #expect(try slow.commit(write, headerVersion: version) == .committed)
    try folder.put(Array("garbage".utf8))
    #expect(code { try slow.flush() } == .damaged)
    #expect(code { _ = try slow.commit(write, headerVersion: version) } == .damaged)
    #expect(code { _ = try delegate.commit(write, headerVersion: version) } == .damaged)
    try folder.put(good)
    #expect(waits(.seconds(60)) { folder.bytes != good })
    #expect(try helper.run("count", folder.path) == ["2"])
  }

  @Test func ofTwoIntervalsTheShorterOneIsKept() throws {
    let folder = TemporaryFolder()
    let slow = folder.delegate(.waiting)
    try slow.set([1], for: name(1))
    let before = folder.bytes
    let quick = folder.delegate(.coalesced(within: .milliseconds(10)))
    try quick.set([2], for: name(2))
    #expect(waits(.seconds(60)) { folder.bytes != before })
    #expect(try helper.run("count", folder.path) == ["2"])
  }

  @Test func whileTheLockIsHeldTheCallerGetsTheErrorAfterAFailedFlush() throws {
    let folder = TemporaryFolder()
    let delegate = folder.delegate(
      .waiting, deadline: .milliseconds(50))
    try delegate.set([1], for: name(1))
    let lock = try FileLock(folder.file + ".lock", waiting: .zero)
    #expect(code { try delegate.flush() } == .busy)
    #expect(code { try delegate.set([2], for: name(2)) } == .busy)
    _ = consume lock
    try delegate.set([3], for: name(3))
    #expect(try helper.run("count", folder.path) == ["2"])
  }

  @Test func writesThatWaitForAFileThatIsGoneDontGoIntoTheOneInItsPlace() throws {
    let folder = TemporaryFolder()
    let delegate = folder.delegate(.waiting)
    _ = try delegate.updateHeader { header, _ in header = [1] }
    let other = try #require(folder.bytes)
    let version = try delegate.updateHeader { header, _ in header = [2] }
    #expect(
      try delegate.commit(RecordWrite([1], for: name(1)), headerVersion: version) == .committed)
    try folder.put(other)
    let (header, next) = try delegate.header()
    #expect(header == [1] && next != version)
    #expect(try delegate.record(for: name(1)) == nil)
    #expect(try delegate.names().isEmpty)
    #expect(
      try delegate.commit(RecordWrite([2], for: name(2)), headerVersion: next) == .committed)
    #expect(code { try delegate.flush() } == .outcomeUnknown)
    #expect(try delegate.names() == [name(2)])
    #expect(try helper.run("count", folder.path) == ["1"])
  }

  @Test func aFlushSaysWhatWasDroppedBeforeIt() throws {
    let folder = TemporaryFolder()
    let delegate = folder.delegate(.coalesced(within: .milliseconds(20)))
    let version = try delegate.updateHeader { header, _ in header = [1] }
    let slow = folder.delegate(.waiting)
    let write = RecordWrite([1], for: name(1))
    #expect(try slow.commit(write, headerVersion: version) == .committed)
    try FileManager.default.removeItem(atPath: folder.file)
    // An immediate write leads and drops it.
    _ = try slow.setIfAbsent([2], for: name(2))
    #expect(code { try delegate.flush() } == .outcomeUnknown)
    #expect(try delegate.names() == [name(2)])
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

  @Test(arguments: [true, false])
  func aHandlerThatIsToldOfDroppedWritesMayUseTheStorage(whileKeysAreMade: Bool) throws {
    let folder = TemporaryFolder()
    let storage = UserDefaultsStorage(
      folder.delegate(.waiting), keySource: .key(sampleKey))
    HandlerTurn.begin()
    defer { HandlerTurn.end() }
    let handler = StorageDiagnostics.handler
    let outcome = Lock<[StorageError.Code?]>([])
    StorageDiagnostics.handler = { error in
      guard error.path == folder.file else { return }
      let result = code {
        #expect(try storage.load(String.self, forKey: "dropped") == nil)
        try storage.save("told", forKey: "told")
        try storage.flush()
      }
      outcome.withLock { $0.append(result) }
    }
    defer { StorageDiagnostics.handler = handler }
    try storage.save("before", forKey: "key")
    try storage.flush()
    try storage.save("waits", forKey: "dropped")
    try FileManager.default.removeItem(atPath: folder.file)
    let isDone = Lock(false)
    Thread.detachNewThread {
      // The one makes new keys, and so holds the lock on them. The other only writes.
      _ = code {
        if whileKeysAreMade {
          #expect(try storage.load(String.self, forKey: "key") == nil)
          try storage.save("after", forKey: "key")
        } else {
          try storage.flush()
        }
      }
      isDone.withLock { $0 = true }
    }
    try #require(waits(.seconds(120)) { isDone.withLock { $0 } })
    // Once, and what it used worked; a flush may say itself that writes were dropped.
    let codes = outcome.withLock { $0 }
    #expect(codes.count == 1 && [nil, .outcomeUnknown].contains(codes.first), "\(codes)")
    #expect(try storage.load(String.self, forKey: "told") == "told")
  }

  @Test func writesForAFileThatSomebodyRemovedAreDroppedAndReported() throws {
    let reported = Lock<[StorageError]>([])
    HandlerTurn.begin()
    defer { HandlerTurn.end() }
    let handler = StorageDiagnostics.handler
    StorageDiagnostics.handler = { error in reported.withLock { $0.append(error) } }
    defer { StorageDiagnostics.handler = handler }
    let folder = TemporaryFolder()
    let delegate = folder.delegate(.waiting)
    let version = try delegate.updateHeader { header, _ in header = [1] }
    let write = RecordWrite([1], for: name(1))
    #expect(try delegate.commit(write, headerVersion: version) == .committed)
    let seen = Lock<[[UInt8]?]>([])
    let observation = delegate.observe { change in seen.withLock { $0.append(change.record) } }
    #expect(try delegate.commit(write, headerVersion: version) == .committed)
    try FileManager.default.removeItem(atPath: folder.file)
    #expect(code { try delegate.flush() } == .outcomeUnknown)
    #expect(seen.withLock { $0 } == [[1], nil])
    withExtendedLifetime(observation) {}
    // Said once.
    try delegate.flush()
    #expect(try delegate.names().isEmpty)
    #expect(reported.withLock { $0.contains { $0.path == folder.file } })
  }
}
