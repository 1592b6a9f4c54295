import CryptoCore
import Foundation
import Testing

struct RecordBufferTests {
  @Test(arguments: AEADAlgorithm.all)
  func anOutputOfTheWrongLengthIsRefusedAndUntouched(_ algorithm: AEADAlgorithm) throws {
    let fixture = try Fixture(algorithm)
    let plaintext = try randomBytes(16)
    let record = try fixture.key.seal(plaintext, for: fixture.context)
    for count in 0...(record.count + 20) {
      let untouched = [UInt8](repeating: 0xa5, count: count)
      if count != record.count {
        var output = untouched
        let answer = code { try fixture.key.seal(plaintext, for: fixture.context, into: &output) }
        #expect(answer == .invalidParameter)
        #expect(output == untouched)
      }
      if count != plaintext.count {
        var output = untouched
        let answer = code { try fixture.key.open(record, for: fixture.context, into: &output) }
        #expect(answer == .invalidParameter)
        #expect(output == untouched)
      }
    }
  }

  @Test(arguments: AEADAlgorithm.all)
  func allFormsOfSealAndOpenAgree(_ algorithm: AEADAlgorithm) throws {
    let fixture = try Fixture(algorithm)
    for size in [0, 1, 15, 16, 17, 1000] {
      let plaintext = try randomBytes(size)
      let overhead = DataKey.overhead(of: algorithm)
      var buffer = [UInt8](repeating: 0, count: size + overhead)
      try fixture.key.seal(plaintext, for: fixture.context, into: &buffer)
      let data = try unsafe fixture.key.sealedData(plaintext.span.bytes, for: fixture.context)
      let array = try fixture.key.seal(plaintext, for: fixture.context)
      for record in [buffer, [UInt8](data), array] {
        #expect(record.count == size + overhead)
        var output = [UInt8](repeating: 0xa5, count: size)
        try fixture.key.open(record, for: fixture.context, into: &output)
        #expect(output == plaintext)
        #expect(try fixture.key.open(record, for: fixture.context) == plaintext)
        var lent: [UInt8]?
        try fixture.key.lend(record, for: fixture.context) { lent = $0 }
        #expect(lent == plaintext)
      }
    }
  }

  @Test(arguments: [0, 1, 16, 31, 33, 64])
  func aKeyOfAnotherSizeIsRefused(count: Int) throws {
    let key = SymmetricKey(data: try randomBytes(count))
    for algorithm in AEADAlgorithm.all {
      #expect(code { _ = try DataKey(key, id: 1, algorithm: algorithm) } == .invalidParameter)
    }
  }
}
