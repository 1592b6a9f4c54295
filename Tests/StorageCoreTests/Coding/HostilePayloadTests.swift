import CryptoCore
import Foundation
import Testing

@testable import StorageCore

/// Payloads that nobody but the owner of the key can make, and that are checked all the same.
@Suite struct HostilePayloadTests {
  private let storage = DelegatedStorage.fresh()

  /// Seals a payload under the store's own key, as the value part behind the name "k".
  private func keep(_ value: [UInt8], head: [UInt8]? = nil) throws {
    let payload = try (head ?? Payload.head(name: "k")) + value
    _ = try storage.store.commit(payload, storage.store.name("k"), if: .always)
  }

  private func refusal<Value>(of type: Value.Type, _ value: [UInt8]) throws -> StorageError.Code? {
    try keep(value)
    return code { _ = try storage.load(type, forKey: "k") }
  }

  private static let huge: [[UInt8]] = [
    [0xFF, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0], [0x7F, 0xFF, 0xFF, 0xFF], [0, 0, 0, 100],
  ]

  @Test(arguments: huge)
  func absurdLengthsAreDamagedAndAllocateNothing(_ count: [UInt8]) throws {
    #expect(try refusal(of: String.self, [0x0E] + count + [65]) == .damaged)
    #expect(try refusal(of: Data.self, [0x0F] + count + [65]) == .damaged)
    #expect(try refusal(of: [Int].self, [0x21, 0x02] + count + [65]) == .damaged)
    #expect(try refusal(of: Set<UInt8>.self, [0x22, 0x08] + count + [65]) == .damaged)
    #expect(try refusal(of: [UInt8: Int].self, [0x23, 0x08, 0x02] + count + [65]) == .damaged)
    #expect(try refusal(of: [Any].self, [0x21, 0x24] + count + [2]) == .damaged)
    #expect(try refusal(of: [Any].self, [0x21, 0x02] + count + [65]) == .damaged)
  }

  @Test func everyTruncationIsDamaged() throws {
    try storage.save(["ab": [1.5, nil], "c": []] as [String: [Double?]], forKey: "k")
    var payload: [UInt8] = []
    _ = try storage.store.withPayload(storage.store.name("k")) { (span) throws(StorageError) in
      payload = span.copied()
    }
    let head = try Payload.head(name: "k").count
    for count in head..<payload.count {
      try keep(Array(payload[head..<count]))
      let code = code { _ = try storage.load([String: [Double?]].self, forKey: "k") }
      #expect(code == .damaged, "\(count)")
    }
    for count in 0..<head {
      try keep(Array(payload.prefix(count)), head: [])
      #expect(code { _ = try storage.load(Int.self, forKey: "k") } == .damaged, "\(count)")
    }
  }

  @Test func bytesBehindTheValueAreDamaged() throws {
    #expect(try refusal(of: Bool.self, [0x01, 1]) == nil)
    #expect(try refusal(of: Bool.self, [0x01, 1, 0]) == .damaged)
    #expect(try refusal(of: String.self, [0x0E, 0, 0, 0, 1, 65, 65]) == .damaged)
  }

  @Test(arguments: [2, 3, 0x80, 0xFF] as [UInt8])
  func aBoolIsZeroOrOne(_ byte: UInt8) throws {
    #expect(try refusal(of: Bool.self, [0x01, byte]) == .damaged)
    #expect(try refusal(of: Int8?.self, [0x20, 0x03, byte, 1]) == .damaged)
  }

  @Test func textThatIsNotUTF8IsDamaged() throws {
    for bytes: [UInt8] in [
      [0xC3], [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80],
    ] {
      #expect(
        try refusal(of: String.self, [0x0E, 0, 0, 0, UInt8(bytes.count)] + bytes) == .damaged)
    }
  }

  @Test func theElementsOfASetHaveOneOrder() throws {
    #expect(try refusal(of: Set<UInt8>.self, [0x22, 0x08, 0, 0, 0, 2, 1, 2]) == nil)
    #expect(try refusal(of: Set<UInt8>.self, [0x22, 0x08, 0, 0, 0, 2, 2, 1]) == .damaged)
    #expect(try refusal(of: Set<UInt8>.self, [0x22, 0x08, 0, 0, 0, 2, 1, 1]) == .damaged)
    #expect(try refusal(of: Set<AnyHashable>.self, [0x22, 0x08, 0, 0, 0, 2, 2, 1]) == .damaged)
    #expect(try refusal(of: Set<AnyHashable>.self, [0x22, 0x08, 0, 0, 0, 2, 1, 1]) == .damaged)
    #expect(
      try refusal(of: Set<AnyHashable>.self, [0x22, 0x24, 0, 0, 0, 2, 0x08, 2, 0x08, 1]) == .damaged
    )
  }

  @Test func theKeysOfADictionaryHaveOneOrder() throws {
    let sorted: [UInt8] = [0x23, 0x08, 0x08, 0, 0, 0, 2, 1, 9, 2, 9]
    let unsorted: [UInt8] = [0x23, 0x08, 0x08, 0, 0, 0, 2, 2, 9, 1, 9]
    let doubled: [UInt8] = [0x23, 0x08, 0x08, 0, 0, 0, 2, 1, 9, 1, 8]
    #expect(try refusal(of: [UInt8: UInt8].self, sorted) == nil)
    for bytes in [unsorted, doubled] {
      #expect(try refusal(of: [UInt8: UInt8].self, bytes) == .damaged)
      #expect(try refusal(of: [AnyHashable: Any].self, bytes) == .damaged)
    }
  }

  @Test func aDecimalHasOneForm() throws {
    func bytes(_ text: String) -> [UInt8] { [0x13, 0, 0, 0, UInt8(text.utf8.count)] + text.utf8 }
    #expect(try refusal(of: Decimal.self, bytes("1.5")) == nil)
    for text in ["", "1.50", "01", "+1", " 1", "1x", "nan", "1e1", "1,5", "--1", "."] {
      #expect(try refusal(of: Decimal.self, bytes(text)) == .damaged, "\(text)")
    }
  }

  @Test func nestingWithoutEndIsDamaged() throws {
    let tags = [UInt8](repeating: 0x21, count: 100_000)
    #expect(try refusal(of: [Any].self, tags) == .damaged)
    #expect(try refusal(of: Int.self, tags) == .damaged)
    let anything = [UInt8](repeating: 0x24, count: 100_000)
    #expect(try refusal(of: [Any].self, anything) == .damaged)
    let arrays = [[UInt8]](repeating: [0x21, 0x24, 0, 0, 0, 1], count: 10_000).flatMap { $0 }
    #expect(try refusal(of: [Any].self, arrays) == .damaged)
  }

  /// A value has one form: a Float is no "any" that holds one.
  @Test(
    arguments: [
      [0x24, 0x0C, 0x3F, 0xC0, 0, 0], [0x20, 0x24, 1, 0x0C, 0x3F, 0xC0, 0, 0],
      [0x21, 0x20, 0x24, 0, 0, 0, 0], [0x21, 0x21, 0x24, 0, 0, 0, 0],
      [0x23, 0x24, 0x0E, 0, 0, 0, 0],
      [0x23, 0x08, 0x24, 0, 0, 0, 0], [0x21, 0x24, 0, 0, 0, 1, 0x24, 0x01, 1],
    ] as [[UInt8]])
  func anyIsOnlyWhereAWriterPutsIt(_ value: [UInt8]) throws {
    #expect(try refusal(of: Float.self, value) == .damaged)
    #expect(try refusal(of: Any.self, value) == .damaged)
    #expect(try refusal(of: [Any].self, value) == .damaged)
    #expect(try refusal(of: [[Bool]].self, value) == .damaged)
  }

  @Test(arguments: [0, 0x14, 0x25, 0x34, 0xFF] as [UInt8])
  func anUnknownTypeIsUnsupported(_ tag: UInt8) throws {
    #expect(try refusal(of: Int.self, [tag, 0, 0, 0, 0]) == .unsupported)
    #expect(try refusal(of: [Any].self, [0x21, tag, 0, 0, 0, 0]) == .unsupported)
  }

  @Test(arguments: [0, 2, 255] as [UInt8])
  func aPayloadOfAnotherVersionIsUnsupported(_ version: UInt8) throws {
    try keep([0x01, 1], head: [version, 0, 1, UInt8(ascii: "k")])
    #expect(code { _ = try storage.load(Bool.self, forKey: "k") } == .unsupported)
  }
}
