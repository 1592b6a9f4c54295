import TestSupport
import Testing

@testable import CryptoCore

/// The examples of docs/file-format.md whose names begin with `record`.
struct FileFormatExampleTests {
  private let document: FormatDocument
  private let context: RecordContext
  private let key: SymmetricKey
  private let nonce: [UInt8]

  init() throws {
    document = try FormatDocument()
    let inputs = document.bytesOfLines("record-inputs")
    try #require(inputs.count == 4)
    context = RecordContext(
      store: try #require(StoreID(inputs[0])),
      name: try KeyedHash(SymmetricKey(data: inputs[1])).hash(name: "token"))
    key = SymmetricKey(data: inputs[2])
    nonce = inputs[3]
  }

  @Test func everyExampleOfARecordIsTested() {
    let names = document.names.filter { $0.hasPrefix("record") }
    #expect(names == ["record-inputs", "record-name", "record-associated-data", "record"])
  }

  @Test func theNameHashIsTheDocuments() {
    #expect(context.name.bytes == document.bytes("record-name"))
  }

  @Test func theAssociatedDataIsTheDocuments() throws {
    let header = RecordHeader(algorithm: .aes256GCM, keyID: 7)
    #expect(try context.encoded(header) == document.bytes("record-associated-data"))
  }

  @Test func theRecordIsTheDocuments() throws {
    let header = RecordHeader(algorithm: .aes256GCM, keyID: 7)
    var record = [UInt8](repeating: 0, count: RecordHeader.byteCount)
    unsafe record.withUnsafeMutableBytes { unsafe header.write(to: $0.baseAddress!) }
    record += nonce
    record += try AEADKey(key, algorithm: .aes256GCM).seal(
      Array("hello".utf8), nonce: nonce, associatedData: context.encoded(header))
    #expect(record == document.bytes("record"))
  }

  @Test func theDocumentsRecordOpens() throws {
    let opened = try DataKey(key, id: 7).open(document.bytes("record"), for: context)
    #expect(opened == Array("hello".utf8))
  }
}
