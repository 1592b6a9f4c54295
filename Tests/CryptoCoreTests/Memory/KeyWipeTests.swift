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
        #expect(try secret.copies() == 1, "one copy of the living key")
        _ = key?.bitCount
        key = nil
        #expect(try secret.copies() == 0, "\(count) bytes")
      }
    }
  }

  @Test func aDataKeyIsGoneOnceReleased() async {
    await #expect(processExitsWith: .success) {
      for algorithm in AEADAlgorithm.all {
        let secret = try Secret(count: 32)
        var key: DataKey? = try DataKey(secret.makeKey(), id: 1, algorithm: algorithm)
        try KeyWipeTests.use(try #require(key))
        #expect(try secret.copies() >= 1, "the living key")
        key = nil
        #expect(try secret.copies() == 0, "\(algorithm)")
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
        #expect(try secret.copies() == 0, "\(count) bytes")
        // RFC 2104: the key's block is hashed with these pads.
        #expect(try secret.copies(pad: 0x36) == 0, "inner pad of \(count) bytes")
        #expect(try secret.copies(pad: 0x5c) == 0, "outer pad of \(count) bytes")
        hash = nil
        #expect(try secret.copies() == 0)
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
      #expect(try secret.copies() == 1, "no copy besides the living input")
      input = nil
      #expect(try secret.copies() == 0)
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

/// Marker bytes that are nowhere in one piece but in the keys made of them.
private struct Secret {
  private let left, right: [UInt8]

  init(count: Int) throws {
    left = try randomBytes(count)
    // Never equal, so that no byte is zero: a run of zeroes is everywhere.
    right = try zip(left, randomBytes(count)).map { $0 == $1 ? $1 ^ 0x80 : $1 }
  }

  func makeKey() throws -> SymmetricKey {
    SymmetricKey(
      bytes: try SecureBytes(count: left.count) { span in
        for index in left.indices {
          span.storeBytes(of: left[index] ^ right[index], toByteOffset: index, as: UInt8.self)
        }
      })
  }

  /// How many copies of the first 32 bytes, each changed by `pad`, the process's memory holds.
  func copies(pad: UInt8 = 0) throws -> Int {
    try ProcessMemory.addresses(
      of: Array(left.prefix(32)), xor: right.prefix(32).map { $0 ^ pad }
    ).count
  }
}
