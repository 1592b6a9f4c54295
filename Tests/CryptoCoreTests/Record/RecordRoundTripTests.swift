import CryptoCore
import Testing

struct RecordRoundTripTests {
  @Test(arguments: AEADAlgorithm.all)
  func everySizeComesBack(_ algorithm: AEADAlgorithm) throws {
    let fixture = try Fixture(algorithm)
    for size in Array(0...300) + [1 << 16, 1 << 20] {
      let plaintext = try randomBytes(size)
      let context = try fixture.context(tag: randomBytes(size % 40))
      let record = try fixture.key.seal(plaintext, for: context)
      #expect(record.count == size + DataKey.overhead(of: algorithm))
      #expect(try fixture.key.open(record, for: context) == plaintext, "\(size) bytes")
    }
  }

  @Test(arguments: AEADAlgorithm.all)
  func theSamePlaintextNeverSealsAlike(_ algorithm: AEADAlgorithm) throws {
    let fixture = try Fixture(algorithm)
    let plaintext = try randomBytes(40)
    var ends: Set<[UInt8]> = []
    for _ in 0..<1000 {
      ends.insert(try fixture.key.seal(plaintext, for: fixture.context).suffix(56))
    }
    #expect(ends.count == 1000)
  }

  @Test(arguments: AEADAlgorithm.all)
  func aRefusalLeavesTheKeyUsable(_ algorithm: AEADAlgorithm) throws {
    let fixture = try Fixture(algorithm)
    let plaintext = try randomBytes(50)
    for _ in 0..<100 {
      let record = try fixture.key.seal(plaintext, for: fixture.context)
      var damaged = record
      damaged[damaged.count - 1] ^= 1
      #expect(
        code { _ = try fixture.key.open(damaged, for: fixture.context) } == .authenticationFailed)
      #expect(try fixture.key.open(record, for: fixture.context) == plaintext)
    }
  }
}
