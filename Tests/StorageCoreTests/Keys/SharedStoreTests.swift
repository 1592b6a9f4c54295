import CryptoCore
import Dispatch
import StorageCore
import Testing

/// Two storages over one delegate are what two processes over one store are.
@Suite struct SharedStoreTests {
  private let delegate = OpenDelegate()

  private func storage(_ byte: UInt8 = 1) -> DelegatedStorage {
    .quiet(delegate, .key(.repeating(byte)))
  }

  @Test func eachSeesWhatTheOtherWrites() throws {
    let (one, other) = (storage(), storage())
    #expect(try other.load(Int.self, forKey: "k") == nil)
    try one.save(1, forKey: "k")
    #expect(try other.load(forKey: "k") == 1)
    try other.save(2, forKey: "k")
    #expect(try one.load(forKey: "k") == 2)
    try one.delete(forKey: "k")
    #expect(try other.load(Int.self, forKey: "k") == nil)
  }

  @Test func aStoreThatTheOtherMakesBetweenTwoLooksIsNotDamaged() throws {
    for saves in [false, true] {
      let delegate = OpenDelegate()
      let maker = DelegatedStorage.quiet(delegate, .key(.repeating(1)))
      let late = DelegatedStorage.quiet(delegate, .key(.repeating(1)))
      // It has seen that there is no header, and lists what there is next.
      delegate.beforeNextListing {
        #expect(throws: Never.self) { try maker.save(1, forKey: "k") }
      }
      if saves { try late.save(2, forKey: "other") }
      #expect(try late.load(forKey: "k") == 1)
      #expect(try maker.load(Int.self, forKey: "other") == (saves ? 2 : nil))
    }
  }

  @Test func aRotationByOneIsFollowedByTheOther() throws {
    let (one, other) = (storage(), storage())
    try one.save(1, forKey: "k")
    #expect(try other.load(forKey: "k") == 1)
    _ = try one.keyAdministration.rotateDataKey()
    #expect(try other.load(forKey: "k") == 1)
    try other.save(2, forKey: "k")
    #expect(try one.load(forKey: "k") == 2)
    _ = try other.keyAdministration.rotateDataKey()
    try one.update(Int.self, forKey: "k") { $0 = $0.map { $0 + 1 } }
    #expect(try other.load(forKey: "k") == 3)
  }

  @Test func theListingFollowsARotationByTheOther() throws {
    let (one, other) = (storage(), storage())
    try one.save(1, forKey: "k")
    #expect(try other.keys() == ["k"])
    _ = try one.keyAdministration.rotateDataKey()
    #expect(try other.keys() == ["k"], "the other has not read anything since")
  }

  @Test func aReencryptionFollowsARotationByTheOther() throws {
    let (one, other) = (storage(), storage())
    for index in 0..<150 { try one.save(index, forKey: "k\(index)") }
    #expect(try other.load(forKey: "k0") == 0)
    delegate.fail(afterCommits: 2)
    #expect(code { _ = try one.keyAdministration.rotateDataKey() } == .io)
    delegate.recover()
    #expect(try other.keyAdministration.reencrypt().reencrypted == 150 - 128)
    for index in 0..<150 { #expect(try one.load(forKey: "k\(index)") == index) }
  }

  @Test func aSealMadeUnderARetiredKeyIsNotCommitted() throws {
    let (one, other) = (storage(), storage())
    try one.save(1, forKey: "k")
    try other.save(2, forKey: "other")
    // Between the other's seal and its commit, one retires the key that sealed.
    delegate.beforeNextCommit { _ = try? one.keyAdministration.rotateDataKey() }
    try other.save(3, forKey: "other")
    #expect(try storage().load(forKey: "other") == 3)
    #expect(try storage().keyAdministration.reencrypt().remaining == 0)
  }

  @Test func aReencryptionDoesNotPutBackWhatWasOverwrittenMeanwhile() throws {
    let one = storage()
    try one.save("old", forKey: "k")
    // Between the reading of the old record and its commit under the new key.
    delegate.beforeNextCommit { try? one.save("new", forKey: "k") }
    _ = try one.keyAdministration.rotateDataKey()
    #expect(try one.load(forKey: "k") == "new")
  }

  @Test func aChangeOfTheSourceDoesNotShutOutWhoHasTheStoreOpen() throws {
    let (one, other) = (storage(), storage())
    try one.save(1, forKey: "k")
    #expect(try other.load(forKey: "k") == 1)
    try one.keyAdministration.change(to: .key(.repeating(2)))
    #expect(try other.load(forKey: "k") == 1)
    try other.save(2, forKey: "k")
    #expect(try storage(2).load(forKey: "k") == 2)
  }

  @Test func aReplacedRootShutsOutTheOtherWithoutLoss() throws {
    let (one, other) = (storage(), storage())
    try one.save(1, forKey: "k")
    #expect(try other.load(forKey: "k") == 1)
    _ = try one.keyAdministration.rotate(openedBy: .key(.repeating(2)))
    #expect(code { _ = try other.load(Int.self, forKey: "k") } == .wrongKey)
    #expect(code { try other.save(9, forKey: "k") } == .wrongKey)
    #expect(try one.load(forKey: "k") == 1)
  }

  @Test func aStoreIsMadeOnceHoweverManyMakeIt() throws {
    let storages = (0..<8).map { _ in storage() }
    DispatchQueue.concurrentPerform(iterations: 8) { index in
      #expect(throws: Never.self) { try storages[index].save(index, forKey: "k\(index)") }
    }
    let reader = storage()
    for index in 0..<8 { #expect(try reader.load(forKey: "k\(index)") == index) }
    #expect(try reader.keys().count == 8)
  }

  @Test func writersLoseNothingWhileKeysAreRotated() throws {
    let rotating = storage()
    try rotating.open()
    let storages = (0..<4).map { _ in storage() }
    DispatchQueue.concurrentPerform(iterations: 5) { thread in
      #expect(throws: Never.self) {
        guard thread < 4 else {
          for _ in 0..<15 { _ = try rotating.keyAdministration.rotateDataKey() }
          return
        }
        for index in 0..<60 {
          try storages[thread].save(index, forKey: "t\(thread)")
          try storages[thread].update(Int.self, forKey: "sum") { $0 = ($0 ?? 0) + 1 }
          let read = try storages[thread].load(Int.self, forKey: "t\(thread)")
          #expect(read == index)
        }
      }
    }
    let reader = storage()
    #expect(try reader.load(forKey: "sum") == 240)
    for thread in 0..<4 { #expect(try reader.load(forKey: "t\(thread)") == 59) }
    #expect(try reader.keyAdministration.reencrypt().remaining == 0)
    #expect(try reader.keys().count == 5)
  }
}
