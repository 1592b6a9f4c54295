import TestSupport
import Testing

@testable import CryptoCore

/// The bytes of docs/file-format.md.
struct RecordFormatTests {
  /// The worked example of the document, made from its inputs.
  private struct WorkedExample {
    static let nonce = [UInt8](0x00...0x0b)
    static let plaintext = Array("hello".utf8)

    let key: AEADKey
    let header = RecordHeader(algorithm: .aes256GCM, keyID: 7)
    let context: RecordContext

    init() throws {
      key = try AEADKey(bytes: [UInt8](0x00...0x1f), algorithm: .aes256GCM)
      context = RecordContext(
        store: try #require(StoreID([UInt8](0x10...0x1f))),
        name: try KeyedHash(SymmetricKey(data: [UInt8](0x20...0x3f))).hash(name: "token"))
    }

    var associatedData: [UInt8] { get throws { try context.encoded(header) } }

    var record: [UInt8] {
      get throws {
        var start = [UInt8](repeating: 0, count: RecordHeader.byteCount)
        unsafe start.withUnsafeMutableBytes { unsafe header.write(to: $0.baseAddress!) }
        return try start + Self.nonce
          + key.seal(Self.plaintext, nonce: Self.nonce, associatedData: associatedData)
      }
    }
  }

  @Test func theWorkedExampleIsWhatTheDocumentSays() throws {
    let example = try WorkedExample()
    let nameHash =
      "398fe36cd0e6a013e5f801dceb4a25a53c0a750ec801cac7e931ae208bebcea6fba87b3e"
      + "4db0d0a6664e7ee3c134993ebb522c5556113e8dca7f80c9609cfee4"
    let associatedData =
      "000000065350537265630000000601010000000700000010101112131415161718191a1b1c1d1e1f"
      + "00000040" + nameHash + "00000000"
    let record =
      "010100000007000102030405060708090a0b2f67ba77aa219cd9b3fa09b7fe7341bfe470"
      + "0b07fe"
    #expect(example.context.name.hexadecimal == nameHash)
    #expect(try example.associatedData.hex == associatedData)
    #expect(try example.record.hex == record)
  }

  @Test func theWorkedExampleOpens() throws {
    let example = try WorkedExample()
    let key = try DataKey(SymmetricKey(data: [UInt8](0x00...0x1f)), id: 7)
    #expect(try key.open(example.record, for: example.context) == WorkedExample.plaintext)
  }

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
