import TestSupport
import Testing

@testable import CryptoCore

/// The bytes of docs/file-format.md.
struct RecordFormatTests {
  @Test(
    arguments: [
      (AEADAlgorithm.aes256GCM, 1), (.chaCha20Poly1305, 2), (.xaes256GCM, 3),
    ] as [(AEADAlgorithm, UInt8)])
  func aRecordBeginsWithVersionAlgorithmAndKey(
    algorithm: AEADAlgorithm, number: UInt8
  ) throws {
    let fixture = try Fixture(algorithm, id: 0xa1b2_c3d4)
    let record = try fixture.key.seal([], for: fixture.context)
    #expect(record.prefix(6).elementsEqual([1, number, 0xa1, 0xb2, 0xc3, 0xd4]))
    let header = try unsafe RecordHeader(reading: record.span.bytes)
    #expect(header.algorithm == algorithm)
    #expect(header.keyID == 0xa1b2_c3d4)
  }
}
