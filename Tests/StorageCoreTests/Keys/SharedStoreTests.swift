import CryptoCore
import StorageCore
import Testing

/// Two storages over one delegate are what two processes over one store are.
@Suite struct SharedStoreTests {
  private let delegate = OpenDelegate()

  private func storage(_ byte: UInt8 = 1) -> DelegatedStorage {
    .quiet(delegate, .key(.repeating(byte)))
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
}
