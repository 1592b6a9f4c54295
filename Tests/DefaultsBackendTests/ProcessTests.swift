import CryptoCore
import DefaultsBackend
import Dispatch
import Foundation
import StorageCore
import TestSupport
import Testing

@Suite struct ProcessTests {
  @Test func twoProcessesThatWriteDifferentKeysLoseNone() throws {
    let folder = TemporaryFolder()
    let each = Depth.count(5_000, day: 500)
    let children = try [0, each].map {
      try helper.start(["fill", folder.path, "\($0)", "\(each)", "64"])
    }
    for child in children {
      let said = try child.lines()
      #expect(said == ["failures 0"])
    }
    let delegate = folder.delegate()
    let missing = try (0..<2 * each).filter { try delegate.record(for: name($0)) != record($0) }
    #expect(missing.isEmpty)
    #expect(try delegate.names().count == 2 * each)
  }

  @Test func processesThatCountUpLoseNoStep() throws {
    let folder = TemporaryFolder()
    let children = try (0..<3).map { _ in
      try helper.start(["count-up", folder.path, "count", "100"])
    }
    for child in children {
      let said = try child.lines()
      #expect(said == ["counted"])
    }
    let storage = UserDefaultsStorage(folder.delegate(), keySource: .key(sampleKey))
    #expect(try storage.load(Int.self, forKey: "count") == 300)
  }

  @Test func anotherProcesssHeaderChangesTheVersionAndStopsACommit() throws {
    let folder = TemporaryFolder()
    let delegate = folder.delegate()
    let version = try delegate.updateHeader { header, _ in header = [1] }
    #expect(try helper.run("header", folder.path, "2") == ["header"])
    let write = RecordWrite([1], for: name(1))
    #expect(try delegate.commit(write, headerVersion: version) == .headerChanged)
    #expect(try delegate.header().header == [2])
    #expect(try delegate.header().version != version)
  }

  @Test func observersAreToldOfAnotherProcesssChangesWithinASecond() throws {
    let folder = TemporaryFolder()
    let delegate = folder.delegate()
    try delegate.set(record(9), for: name(1))
    let seen = Lock<[NameHash: [UInt8]]>([:])
    let observation = delegate.observe { change in
      seen.withLock { $0[change.name] = change.record ?? [] }
    }
    #expect(try helper.run("set", folder.path, "1", "2") == ["set"])
    #expect(waits(.seconds(60)) { seen.withLock { $0 } == [name(1): record(2)] })
    #expect(try helper.run("set", folder.path, "3", "4") == ["set"])
    #expect(waits(.seconds(60)) { seen.withLock { $0[name(3)] } == record(4) })
    try FileManager.default.removeItem(atPath: folder.file)
    #expect(waits(.seconds(60)) { seen.withLock { $0 } == [name(1): [], name(3): []] })
    withExtendedLifetime(observation) {}
  }

  @Test func aFolderThatIsMadeLaterIsWatchedAsWell() throws {
    let folder = TemporaryFolder()
    let later = folder.path + "/later"
    let delegate = DefaultsDelegate(folder: later, suiteName: "suite")
    let count = Lock(0)
    let observation = delegate.observe { _ in count.withLock { $0 += 1 } }
    #expect(try helper.run("set", later, "1", "2") == ["set"])
    #expect(waits(.seconds(60)) { count.withLock { $0 } == 1 })
    withExtendedLifetime(observation) {}
  }
}
