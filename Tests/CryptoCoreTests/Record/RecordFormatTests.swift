import TestSupport
import Testing

@testable import CryptoCore

/// The bytes of docs/file-format.md.
struct RecordFormatTests {
  @Test func theAssociatedDataIsFiveFieldsBehindTheirLengths() throws {
    let store = try StoreID.random()
    let name = try #require(NameHash(randomBytes(64)))
    let context = RecordContext(store: store, name: name, authenticationTag: [0xaa, 0xbb, 0xcc])
    let header = RecordHeader(algorithm: .xaes256GCM, keyID: 0x0102_0304)
    let parts = [
      "00000006", Array("SPSrec".utf8).hex,
      "00000006", "010301020304",
      "00000010", store.bytes.hex,
      "00000040", name.hexadecimal,
      "00000003", "aabbcc",
    ]
    #expect(try context.encoded(header).hex == parts.joined())
  }

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

  @Test func theNumbersOfAlgorithmsAreClosed() {
    for code in 0...255 as ClosedRange<UInt8> {
      #expect(AEADAlgorithm(code: code)?.rawValue == ((1...3).contains(code) ? code : nil))
    }
  }
}
