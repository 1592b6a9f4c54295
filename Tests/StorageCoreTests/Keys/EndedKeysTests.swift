import CryptoCore
import StorageCore
import Testing

/// Data keys that a rotation ends, over a delegate without a manifest.
struct EndedKeysTests {
  private let delegate = OpenDelegate()

  private func storage(_ byte: UInt8 = 1, tag: String? = nil) -> DelegatedStorage {
    .quiet(delegate, .key(.repeating(byte)), tag: tag)
  }

  private func made(_ count: Int) throws -> DelegatedStorage {
    let storage = storage()
    for index in 0..<count { try storage.save(index, forKey: "k\(index)") }
    return storage
  }

  /// 66 bytes that name data key 1 and are no record, under a name that nobody uses.
  private func plantJunk() throws {
    let name = try #require(NameHash([UInt8](repeating: 0xA5, count: 64)))
    try delegate.replace(name, with: [1, 1, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 60))
  }

  @Test(arguments: [0, 1, 2]) func aRotationThatWasInterruptedStillEndsTheOldKeys(
    _ commits: Int
  ) throws {
    let storage = try made(150)
    let old = try delegate.records()
    try plantJunk()
    delegate.fail(afterCommits: commits)
    #expect(code { _ = try storage.keyAdministration.rotate(openedBy: .key(.repeating(2))) } == .io)
    delegate.recover()
    // The next start of the program reads all of them meanwhile.
    let next = self.storage(2)
    for index in 0..<150 { #expect(try next.load(forKey: "k\(index)") == index) }
    let report = try next.keyAdministration.reencrypt()
    #expect(report.remaining == 0 && report.setAside == 1)
    let (name, record) = try #require(old.first)
    try delegate.replace(name, with: record)
    #expect(try self.storage(2).listing().unreadable == 2)
  }

  @Test func whatIsPlantedWhileARotationGoesOnIsNotSealedAnew() throws {
    let storage = try made(150)
    let old = try delegate.records()
    for index in 0..<150 { try storage.save(-index, forKey: "k\(index)") }
    let delegate = delegate
    delegate.beforeNextCommit {
      for (name, record) in old { try? delegate.replace(name, with: record) }
    }
    let report = try storage.keyAdministration.rotate(openedBy: .key(.repeating(2)))
    #expect(report.reencrypted == 0 && report.remaining == 0 && report.setAside == 150)
    #expect(report.setAsideKeys.count == 150)
    #expect(code { _ = try self.storage(2).load(Int.self, forKey: "k7") } == .damaged)
  }

  /// Its pass was over before the other's keys ended, so it has not sealed anew what is under them.
  @Test func aReencryptionEndsNoKeysOfARotationThatBeganMeanwhile() throws {
    let (one, other) = (try made(150), storage())
    _ = try other.load(Int.self, forKey: "k0")
    let delegate = delegate
    delegate.fail(afterCommits: 1)
    #expect(code { _ = try one.keyAdministration.rotateDataKey() } == .io)
    delegate.recover()
    // Between two commits of the other's pass.
    delegate.beforeNextCommit {
      delegate.fail(afterCommits: 0)
      #expect(code { _ = try one.keyAdministration.rotate() } == .io)
      delegate.recover()
    }
    let report = try other.keyAdministration.reencrypt()
    #expect(report.setAside == 0)
    for index in 0..<150 { #expect(try storage().load(forKey: "k\(index)") == index) }
    #expect(try one.keyAdministration.reencrypt().remaining == 0)
    for index in 0..<150 { #expect(try storage().load(forKey: "k\(index)") == index) }
  }

  // MARK: - Listeners

  @Test func aListenerGetsNothingOfAStoreThatIsGone() async throws {
    let storage = storage()
    let property = Store<String, DelegatedStorage>(storage, "k")
    try property.save("revoked")
    let (name, old) = try delegate.onlyRecord()
    var states = property.states.makeAsyncIterator()
    #expect(await states.next() == .value("revoked"))
    try delegate.removeStore()
    #expect(await states.next() == .absent)
    try property.save("current")
    #expect(await states.next() == .value("current"))
    try delegate.replace(name, with: old)
    try property.save("next")
    #expect(await states.next() == .value("next"))
  }
}
