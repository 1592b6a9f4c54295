import CryptoCore
import TestSupport
import Testing

/// Where memory can't be locked, keys work all the same, and the module knows it.
struct MemoryLockLimitTests {
  @Test func withoutAnyLockedMemoryKeysWorkAndItIsKnown() async {
    await #expect(processExitsWith: .success) {
      MemoryLockLimit.lower(to: 0)
      #expect(SecureMemory.protection == .unused)
      try MemoryLockLimitTests.useKeys()
      // mlock(2): EPERM where the limit is 0.
      #expect(SecureMemory.protection == .unlocked(errno: 1), "\(SecureMemory.protection)")
      let bytes = try SecureBytes.random(count: 32)
      let mapping = try #require(MemoryMapping.containing(bytes.address))
      #expect(mapping.flags.contains("dd") && !mapping.flags.contains("lo"), "\(mapping.flags)")
    }
  }

  @Test func whenTheLimitIsReachedKeysWorkAndItIsKnown() async {
    await #expect(processExitsWith: .success) {
      MemoryLockLimit.lower(to: 64 << 10)
      var keys = [try SecureBytes.random(count: 32)]
      #expect(SecureMemory.protection == .locked, "\(SecureMemory.protection)")
      for _ in 0..<40 { keys.append(try SecureBytes.random(count: 4096)) }
      // mlock(2): ENOMEM above the limit.
      #expect(SecureMemory.protection == .unlocked(errno: 12), "\(SecureMemory.protection)")
      #expect(Set(keys.map(\.exposed)).count == keys.count)
      try MemoryLockLimitTests.useKeys()
      keys.removeAll()
      // What was in the clear once may have been swapped out: it is not forgotten.
      #expect(SecureMemory.protection == .unlocked(errno: 12), "\(SecureMemory.protection)")
    }
  }

  private static func useKeys() throws {
    for algorithm in AEADAlgorithm.all {
      let fixture = try Fixture(algorithm)
      let record = try fixture.key.seal([1, 2, 3], for: fixture.context)
      #expect(try fixture.key.open(record, for: fixture.context) == [1, 2, 3])
    }
    #expect(try SecureBytes.random(count: 10_000).count == 10_000)
  }
}
