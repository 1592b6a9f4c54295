import TestSupport
import Testing

@testable import CryptoCore

/// A record opens where it was sealed, and nowhere else.
struct RecordBindingTests {
  @Test(arguments: AEADAlgorithm.all)
  func aRecordOpensUnderItsOwnContextAlone(_ algorithm: AEADAlgorithm) throws {
    let fixture = try Fixture(algorithm)
    let plaintext = try randomBytes(33)
    let tag = Array("tenant 1".utf8)
    let context = try fixture.context(tag: tag)
    let record = try fixture.key.seal(plaintext, for: context)
    #expect(try fixture.key.open(record, for: context) == plaintext)
    #expect(try fixture.key.open(record, for: fixture.context(tag: tag)) == plaintext)

    let strangers = [
      try fixture.context(name: "Token", tag: tag),
      try fixture.context(name: "", tag: tag),
      try fixture.context(store: .random(), tag: tag),
      try fixture.context(),
      try fixture.context(tag: Array("tenant 2".utf8)),
      try fixture.context(tag: tag + [0]),
      try fixture.context(tag: tag.dropLast()),
      try Fixture(algorithm).context(store: fixture.store, tag: tag),
    ]
    for stranger in strangers {
      #expect(code { _ = try fixture.key.open(record, for: stranger) } == .authenticationFailed)
    }
  }

  @Test(arguments: AEADAlgorithm.all)
  func aFlippedBitOfTheContextIsRefusedWhereverItIs(_ algorithm: AEADAlgorithm) throws {
    let fixture = try Fixture(algorithm)
    let store = fixture.store.bytes
    let name = try fixture.names.hash(name: "token").bytes
    let tag = try randomBytes(8)
    let record = try fixture.key.seal(randomBytes(9), for: fixture.context(tag: tag))
    let whole = store + name + tag
    for position in whole.indices {
      for bit in 0..<8 {
        var changed = whole
        changed[position] ^= 1 << bit
        let context = RecordContext(
          store: try #require(StoreID(changed[..<16])),
          name: try #require(NameHash(changed[16..<80])), authenticationTag: Array(changed[80...]))
        #expect(code { _ = try fixture.key.open(record, for: context) } == .authenticationFailed)
      }
    }
  }

  @Test(arguments: AEADAlgorithm.all)
  func aRecordOfAnotherKeyIsRefused(_ algorithm: AEADAlgorithm) throws {
    let fixture = try Fixture(algorithm)
    let other = try DataKey(.random(), id: fixture.key.id, algorithm: algorithm)
    for size in [0, 1, 100] {
      let record = try fixture.key.seal(randomBytes(size), for: fixture.context)
      #expect(code { _ = try other.open(record, for: fixture.context) } == .authenticationFailed)
    }
  }

  @Test func anEmptyAuthenticationTagIsTheSameAsNone() throws {
    let fixture = try Fixture()
    let record = try fixture.key.seal([1, 2, 3], for: fixture.context)
    #expect(try fixture.key.open(record, for: fixture.context(tag: [])) == [1, 2, 3])
  }

  @Test func noTwoContextsEncodeAlike() throws {
    // Bytes that move from one field to the next, and fields that hold the lengths of others.
    let zeroes = [UInt8](repeating: 0, count: 64)
    let length: [UInt8] = [0, 0, 0, 64]
    let stores = [Array(zeroes.prefix(16)), length + zeroes.prefix(12), zeroes.prefix(12) + length]
    let names = [zeroes, length + zeroes.prefix(60), zeroes.prefix(60) + length]
    let tags: [[UInt8]] = [
      [], [0], [0, 0], [0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1, 0], length, zeroes,
      length + zeroes, zeroes + length + zeroes,
    ]
    var seen: [[UInt8]: String] = [:]
    for store in stores {
      for name in names {
        for tag in tags {
          for algorithm in AEADAlgorithm.all {
            for id in [0, 1, 64, 0x0100_0000] as [UInt32] {
              let context = RecordContext(
                store: try #require(StoreID(store)), name: try #require(NameHash(name)),
                authenticationTag: tag)
              let encoded = try context.encoded(RecordHeader(algorithm: algorithm, keyID: id))
              let input = "\(store.hex) \(name.hex) \(tag.hex) \(algorithm) \(id)"
              #expect(seen.updateValue(input, forKey: encoded) == nil, "\(input)")
            }
          }
        }
      }
    }
    #expect(seen.count == stores.count * names.count * tags.count * 3 * 4)
  }
}
