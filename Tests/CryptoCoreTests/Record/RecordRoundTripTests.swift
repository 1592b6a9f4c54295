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
}
