import Foundation
import TestSupport
import Testing

@testable import CryptoCore

/// After the last use of a key no memory of the process holds its bytes.
///
/// All of the writable memory is searched, in a process of its own. Each test first finds the key
/// while it lives, to show that the search works.
struct KeyWipeTests {
  @Test func aReleasedSlotIsZero() async {
    await #expect(processExitsWith: .success) {
      for count in [1, 16, 32, 63, 64] {
        var bytes: SecureBytes? = try SecureBytes([UInt8](repeating: 0xa7, count: count))
        let address = try #require(bytes).address
        bytes = nil
        let slot = ProcessMemory.read(address, count: SecureMemory.slotSize)
        #expect(slot == [UInt8](repeating: 0, count: SecureMemory.slotSize), "\(count) bytes")
      }
    }
  }

  @Test func aKeyIsGoneOnceReleased() async {
    await #expect(processExitsWith: .success) {
      for count in [32, 64, 65, 5000] {
        let secret = try Secret(count: count)
        var key: SymmetricKey? = try secret.makeKey()
        #expect(secret.copies() == 1, "one copy of the living key")
        withExtendedLifetime(key) {}
        key = nil
        #expect(secret.copies() == 0, "\(count) bytes")
      }
    }
  }

  @Test func aDataKeyIsGoneOnceReleased() async {
    await #expect(processExitsWith: .success) {
      for algorithm in AEADAlgorithm.all {
        let secret = try Secret(count: 32)
        var key: DataKey? = try DataKey(secret.makeKey(), id: 1, algorithm: algorithm)
        try KeyWipeTests.use(try #require(key))
        #expect(secret.copies() >= 1, "the living key")
        key = nil
        #expect(secret.copies() == 0, "\(algorithm)")
      }
    }
  }

  @Test func aKeyedHashIsGoneOnceReleased() async {
    await #expect(processExitsWith: .success) {
      for count in [32, 128, 200] {
        let secret = try Secret(count: count)
        var hash: KeyedHash? = try KeyedHash(secret.makeKey())
        _ = try hash?.hash(name: "token")
        // Only the hash's states are kept, from which the key can't be computed.
        #expect(secret.copies() == 0, "\(count) bytes")
        // RFC 2104: the key's block is hashed with these pads.
        #expect(secret.copies(pad: 0x36) == 0, "inner pad of \(count) bytes")
        #expect(secret.copies(pad: 0x5c) == 0, "outer pad of \(count) bytes")
        hash = nil
        #expect(secret.copies() == 0)
      }
    }
  }

  @Test func theInputOfADerivationIsGoneOnceReleased() async {
    await #expect(processExitsWith: .success) {
      let secret = try Secret(count: 40)
      var input: SecureBytes? = try secret.makeKey().bytes
      for hash in [DerivationHash.sha256, .sha512] {
        let input = try #require(input)
        _ = try KeyDerivation.hkdf(input, salt: [1], info: [2], count: 32, hash: hash)
        _ = try KeyDerivation.pbkdf2(input, salt: [1], rounds: 2, count: 32, hash: hash)
        _ = try KeyDerivation.scrypt(
          input, salt: [1], cost: 16, blockSize: 1, parallelism: 1, count: 32)
      }
      #expect(secret.copies() == 1, "no copy besides the living input")
      input = nil
      #expect(secret.copies() == 0)
    }
  }

  @Test func aLentPlaintextIsGoneAfterwards() async {
    await #expect(processExitsWith: .success) {
      for algorithm in AEADAlgorithm.all {
        let fixture = try Fixture(algorithm)
        // Once before: a function's first call goes through the dynamic linker, which saves the
        // vector registers, with text in them, on the stack. With LD_BIND_NOW=1 it doesn't.
        try KeyWipeTests.use(fixture.key)
        let secret = try Secret(count: 100)
        var plaintext: SecureBytes? = try secret.makeKey().bytes
        let record = try #require(plaintext).withBytes {
          try fixture.key.seal($0, for: fixture.context)
        }
        plaintext = nil
        #expect(secret.copies() == 0, "sealed")
        var lent = 0
        try unsafe fixture.key.withOpened(record.span.bytes, for: fixture.context) { _ in
          lent = secret.copies()
        }
        #expect(lent == 1, "lent")
        #expect(secret.copies() == 0, "\(algorithm)")
      }
    }
  }

  @Test func theBufferOfALentPlaintextIsWiped() async {
    await #expect(processExitsWith: .success) {
      let fixture = try Fixture()
      // On the heap from 1 KiB on; there the search's own allocations would take its place.
      let count = 5000
      let record = try fixture.key.seal(
        [UInt8](repeating: 0xa7, count: count), for: fixture.context)
      var rest = [UInt8](repeating: 0, count: count)
      var address: UInt = 0
      try unsafe fixture.key.withOpened(record.span.bytes, for: fixture.context) { span in
        address = unsafe span.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        #expect(ProcessMemory.read(address, into: &rest))
        #expect(rest == [UInt8](repeating: 0xa7, count: count), "lent")
      }
      let isThere = ProcessMemory.read(address, into: &rest)
      // free(3) writes notes of its own, which may have the byte by chance.
      #expect(!isThere || rest.count { $0 == 0xa7 } < 100)
    }
  }

  /// Seals and opens, on more threads than there are contexts kept.
  private static func use(_ key: DataKey) throws {
    let fixture = try Fixture()
    Threads.run(8) { _ in
      for _ in 0..<200 {
        guard let record = try? key.seal([1, 2, 3], for: fixture.context) else { return }
        _ = try? key.open(record, for: fixture.context)
      }
    }
  }
}
