import CryptoCore
import Foundation
import TestSupport
import Testing

@testable import StorageCore

/// The examples of docs/file-format.md that StorageCore writes and reads.
///
/// Their bytes were made by another implementation. What has a random nonce or salt can't be made
/// again, so it is read, and what was read is written where nothing random is in it.
struct FileFormatExampleTests {
  private let document: FormatDocument
  private let store: StoreID
  private let nameKey: SymmetricKey
  private let dataKey: SymmetricKey

  init() throws {
    document = try FormatDocument()
    let inputs = document.bytesOfLines("record-inputs")
    store = try #require(StoreID(inputs[0]))
    nameKey = SymmetricKey(data: inputs[1])
    dataKey = SymmetricKey(data: inputs[2])
  }

  @Test func theKeysOfTheManifestFollowFromNameKeyAndPrimaryDataKey() throws {
    var keyset = try Keyset(algorithm: .aes256GCM)
    keyset.nameKey = nameKey
    keyset.entries = [.init(id: 1, algorithm: .aes256GCM, reservedSeals: 0, key: dataKey)]
    let keys = try keyset.manifestKeys(store: store)
    let message: [UInt8] = [1, 2, 3]
    let expected = document.bytesOfLines("manifest-keys").map { SymmetricKey(data: $0) }
    #expect(
      try unsafe keys.records.hash(message.span.bytes)
        == KeyedHash(expected[0]).hash(message.span.bytes))
    #expect(
      try unsafe keys.removals.hash(message.span.bytes)
        == KeyedHash(expected[1]).hash(message.span.bytes))
    var sealed = [UInt8](repeating: 0, count: message.count + SealingKey.overhead)
    var span = sealed.mutableSpan
    var output = unsafe span.mutableBytes
    try unsafe keys.manifest.seal(
      message.span.bytes, authenticating: message.span.bytes, into: &output)
    var opened = message
    var openedSpan = opened.mutableSpan
    var openedOutput = unsafe openedSpan.mutableBytes
    try unsafe SealingKey(expected[2]).open(
      sealed.span.bytes, authenticating: message.span.bytes, into: &openedOutput)
  }

  @Test func everyExampleBesidesTheRecordIsTested() {
    let names = document.names.filter {
      $0 == "record"
        || !$0.hasPrefix("record-") && !$0.hasPrefix("manifest")
          && !$0.hasPrefix("folder-")
    }
    #expect(
      names == [
        "record", "values", "payload", "payload-record", "keyset", "keyset-states", "header",
        "named-key", "direct",
        "key-text", "recovery-text",
      ])
  }

  @Test func valuesAreWrittenAndReadAsTheDocumentSays() throws {
    var lines = document.bytesOfLines("values")[...]
    func check<Value: Equatable>(_ value: Value, _ coder: ValueCoder<Value> = .automatic()) throws {
      let line = lines.popFirst()
      let bytes = try #require(line)
      var written: [UInt8] = []
      try coder.append(value, &written)
      #expect(written == bytes, "\(value)")
      var offset = 0
      #expect(try unsafe coder.read(bytes.span.bytes, &offset) == value)
      #expect(offset == bytes.count)
    }
    try check(true)
    try check(-2)
    try check(Int32(7))
    try check(UInt8(255))
    try check(Float(1.5))
    try check(-0.0)
    try check("k\u{e9}")
    try check(Data([0x00, 0xff]))
    try check(Date(timeIntervalSinceReferenceDate: 244_542_202.25))
    try check(try #require(URL(string: "https://example.org/")))
    try check(try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")))
    try check(try #require(Decimal(string: "-1.25")))
    try check([nil, 7] as [Int?])
    try check(["b", "aa", "a"] as Set)
    try check(["b": 2, "a": 1] as [String: UInt8])
    let line = lines.popFirst()
    try checkAny([false, "x"], try #require(line))
    try check(["a": 1], .coding(.json))
    try check(42, .coding(Self.oneByte))
    #expect(lines.isEmpty)
  }

  private func checkAny(_ values: [Any], _ bytes: [UInt8]) throws {
    let coder = ValueCoder<[Any]>.automatic()
    var written: [UInt8] = []
    try coder.append(values, &written)
    #expect(written == bytes)
    var offset = 0
    let read = try unsafe coder.read(bytes.span.bytes, &offset)
    #expect(read.count == 2 && read[0] as? Bool == false && read[1] as? String == "x")
  }

  /// An application's own coding.
  private static let oneByte = CodableCoding.custom(
    "v1", encode: { Data([UInt8($0 as? Int ?? 0)]) }, decode: { _, data in Int(data[0]) })

  @Test func theRecordOfAPayloadOpens() throws {
    let key = try DataKey(dataKey, id: 7)
    let context = RecordContext(
      store: store, name: try KeyedHash(nameKey).hash(name: "token"))
    let record = document.bytes("payload-record")
    let payload = try unsafe key.openedData(record.span.bytes, for: context)
    #expect(Array(payload) == document.bytes("payload"))
  }

  @Test func aPayloadIsWrittenAndReadAsTheDocumentSays() throws {
    let coder = ValueCoder<String>.automatic()
    let payload = document.bytes("payload")
    #expect(try SealedStore.payload("hello", "token", coder) == payload)
    #expect(try unsafe Payload.name(payload.span.bytes) == "token")
    #expect(try unsafe coder.decode(payload.span.bytes) == "hello")
  }

  @Test func theKeysetIsWrittenAndReadAsTheDocumentSays() throws {
    let bytes = document.bytes("keyset")
    let keyset = try unsafe Keyset(reading: bytes.span.bytes)
    #expect(keyset.primaryID == 7 && keyset.nextID == 8 && keyset.nameKey == nameKey)
    #expect(keyset.entries.count == 1 && keyset.entries[0].reservedSeals == 1024)
    #expect(keyset.entries[0].id == 7 && keyset.entries[0].algorithm == .aes256GCM)
    #expect(keyset.entries[0].key == dataKey)
    #expect(try keyset.bytes().withBytes { $0.copied() } == bytes)
  }

  @Test func aKeysetWithARetiredKeyIsWrittenAndReadAsTheDocumentSays() throws {
    let bytes = document.bytes("keyset-states")
    let keyset = try unsafe Keyset(reading: bytes.span.bytes)
    #expect(keyset.primaryID == 7 && keyset.nextID == 8 && keyset.nameKey == nameKey)
    #expect(keyset.entries.map(\.id) == [6, 7])
    #expect(keyset.entries.map(\.state) == [.retired, .open])
    #expect(keyset.entries[1].key == dataKey)
    #expect(try keyset.bytes().withBytes { $0.copied() } == bytes)
  }

  @Test func theHeaderIsWrittenAndReadAsTheDocumentSays() throws {
    let bytes = document.bytes("header")
    #expect(bytes.count == 525)
    let header = try StoreHeader(reading: bytes)
    #expect(header.bytes == bytes)
    #expect(header.store == store)
    #expect(header.slots.map(\.id) == [1, 2])
    #expect(header.slots.map(\.kind) == [.file, .passphrase])
    #expect(header.slots.map(\.identifier) == ["master.key", ""])
  }

  @Test func eachSlotOfTheHeaderLeadsToItsKeyset() throws {
    let header = try StoreHeader(reading: document.bytes("header"))
    let material: [KeyMaterial] = [
      .key(SymmetricKey(data: [UInt8](0xc0...0xdf))),
      .passphrase(try SecureBytes(Array("correct horse".utf8))),
    ]
    for (slot, right) in zip(header.slots, material) {
      let root = try #require(try slot.root(with: right, store: store))
      #expect(root == SymmetricKey(data: [UInt8](0x80...0x9f)))
      #expect(try RootKey(root, store: store).isRoot(of: header))
      let keyset = try RootKey(root, store: store).openKeyset(of: header)
      #expect(try keyset.bytes().withBytes { $0.copied() } == document.bytes("keyset"))
    }
    let wrong = try SecureBytes(Array("Correct horse".utf8))
    #expect(try header.slots[1].root(with: .passphrase(wrong), store: store) == nil)
  }

  @Test func namedKeysFollowAsTheDocumentSays() throws {
    let keyset = try unsafe Keyset(reading: document.bytes("keyset").span.bytes)
    let root = RootKey(SymmetricKey(data: [UInt8](0x80...0x9f)), store: store)
    let keys = try OpenKeys(keyset, root: root, store: store, previous: nil)
    let key = try keys.namedKey("token")
    #expect(key.withBytes { $0.copied() } == document.bytes("named-key"))
  }

  @Test func directModeDerivesWhatTheDocumentSays() throws {
    let lines = document.bytesOfLines("direct")
    let keys = try OpenKeys(directly: dataKey)
    #expect(keys.store.bytes == lines[0])
    #expect(
      try keys.names.hash(name: "token")
        == KeyedHash(SymmetricKey(data: lines[1])).hash(name: "token"))
    #expect(keys.primary.id == 1 && keys.primary.algorithm == .xaes256GCM)
    let context = RecordContext(store: keys.store, name: .reserved)
    let plaintext: [UInt8] = [1, 2, 3]
    let record = try unsafe keys.primary.seal(plaintext.span.bytes, for: context)
    let same = try DataKey(SymmetricKey(data: lines[2]), id: 1, algorithm: .xaes256GCM)
    #expect(try unsafe Array(same.openedData(record.span.bytes, for: context)) == plaintext)
  }

  @Test func textFormsAreTheDocuments() throws {
    let line = document.lines("key-text")[0]
    let text = try KeyEncoding.encode(dataKey).withBytes { $0.copied() }
    #expect(String(decoding: text, as: UTF8.self) == line + "\n")
    guard
      case .key(dataKey) = try KeyEncoding.material(
        of: SecureBytes(text), path: nil, source: "the document")
    else {
      Issue.record("the text is not read as the key")
      return
    }
    let recovery = document.lines("recovery-text")[0]
    #expect(try RecoveryKey(dataKey).withText { $0 } == recovery)
    #expect(try RecoveryKey(text: recovery.lowercased()) == RecoveryKey(dataKey))
  }
}
