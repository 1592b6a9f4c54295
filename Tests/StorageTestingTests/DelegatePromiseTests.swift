import CryptoCore
import SingletonBackend
import StorageCore
import StorageTesting
import Testing

@Suite struct DelegatePromiseTests {
  @Test(arguments: DelegatePromise.all(of: SingletonStorageDelegate.self))
  func theDelegateInMemoryKeepsIts(_ promise: DelegatePromise) throws {
    try promise.check { SingletonStorageDelegate() }
  }

  @Test(arguments: DelegatePromise.all(of: FaultyDelegate.self))
  func aFaultyDelegateWithoutFaultsKeepsIts(_ promise: DelegatePromise) throws {
    try promise.check { FaultyDelegate() }
  }

  @Test func promisesOfRefinedProtocolsAreCheckedOnlyWhereTheyAreMade() {
    let plain = DelegatePromise.all(of: ForgetfulDelegate.self)
    let keyed = DelegatePromise.all(of: SingletonStorageDelegate.self)
    #expect(plain.count < keyed.count)
    #expect(!plain.isEmpty)
  }

  @Test func aDelegateThatForgetsIsFoundOut() throws {
    var broken = 0
    for promise in DelegatePromise.all(of: ForgetfulDelegate.self) {
      do { try promise.check { ForgetfulDelegate() } } catch is BrokenPromise { broken += 1 }
    }
    #expect(broken >= 4)
  }
}

/// Takes everything and keeps nothing.
private struct ForgetfulDelegate: StorageDelegate {
  func record(for name: NameHash) throws(StorageError) -> [UInt8]? { nil }
  func set(_ record: [UInt8], for name: NameHash) throws(StorageError) {}
  func setIfAbsent(_ record: [UInt8], for name: NameHash) throws(StorageError) -> Bool { true }
  func remove(_ name: NameHash) throws(StorageError) {}
}
