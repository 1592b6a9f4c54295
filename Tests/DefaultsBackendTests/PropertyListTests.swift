import CryptoCore
import Foundation
import StorageCore
import TestSupport
import Testing

@testable import DefaultsBackend

@Suite struct PropertyListTests {
  private static func contents(_ count: Int, size: Int = 150) -> SuiteContents {
    var contents = SuiteContents()
    contents.header = Array("header".utf8)
    for index in 0..<count {
      contents.records[name(index)] = (0..<size).map { UInt8(truncatingIfNeeded: $0 &+ index) }
    }
    return contents
  }

  // Around every count where the form changes: 15 items, 1 and 2 bytes of references and offsets.
  @Test(arguments: Depth.cases([0, 1, 6, 7, 8, 126, 127, 128, 300, 33_000], day: 5))
  func foundationReadsWhatIsWritten(_ count: Int) throws {
    let contents = Self.contents(count, size: 20)
    let bytes = try contents.propertyList()
    let list = try unsafe PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
    let dictionary = try #require(list as? [String: Data])
    #expect(dictionary.count == count + 1)
    #expect(dictionary["SecurePropertyStorage"].map { Array($0) } == contents.header)
    for (name, record) in contents.records {
      #expect(dictionary[name.hexadecimal].map { Array($0) } == record)
    }
    #expect(try SuiteContents(reading: bytes) == contents)
  }

  @Test(arguments: Depth.cases([0, 1, 14, 15, 200, 40_000], day: 3))
  func whatFoundationWritesIsRead(_ count: Int) throws {
    let contents = Self.contents(count, size: 20)
    var dictionary = ["SecurePropertyStorage": Data(contents.header!)]
    for (name, record) in contents.records { dictionary[name.hexadecimal] = Data(record) }
    let data = try PropertyListSerialization.data(
      fromPropertyList: dictionary, format: .binary, options: 0)
    #expect(try SuiteContents(reading: Array(data)) == contents)
  }

  @Test(arguments: [0, 1, 14, 15, 16, 255, 256, 65_535, 65_536, 1 << 20])
  func recordsOfEveryFormOfLengthComeBack(_ size: Int) throws {
    let contents = Self.contents(2, size: size)
    #expect(try SuiteContents(reading: contents.propertyList()) == contents)
  }

  @Test func everyTruncationIsRefused() throws {
    let bytes = try Self.contents(3, size: 20).propertyList()
    for count in 0..<bytes.count {
      #expect(code { _ = try SuiteContents(reading: Array(bytes.prefix(count))) } == .damaged)
      #expect(code { _ = try SuiteContents(reading: Array(bytes.suffix(count))) } == .damaged)
    }
    #expect(code { _ = try SuiteContents(reading: bytes + [0]) } == .damaged)
  }

  @Test func randomBytesBehindAValidMagicNeverCrash() {
    var generator = SystemRandomNumberGenerator()
    for round in 0..<20_000 {
      var bytes = FlatPropertyList.magic
      for _ in 0..<(round % 60) { bytes.append(UInt8.random(in: 0...255, using: &generator)) }
      // A trailer that passes the first checks, so that what it leads to is tried.
      let count = UInt8.random(in: 1...4)
      let table = UInt8(max(8, bytes.count - Int(count)))
      bytes += [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, count]
      bytes += [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, table]
      _ = code { _ = try SuiteContents(reading: bytes) }
    }
  }

  static var foreign: [(String, Any)] {
    [
      ("a number", ["SecurePropertyStorage": 1]),
      ("a string value", ["SecurePropertyStorage": "x"]),
      ("an unknown key", ["other": Data([1])]),
      ("upper case", [String(repeating: "AB", count: 64): Data([1])]),
      ("a nested dictionary", ["SecurePropertyStorage": ["a": Data([1])]]),
      ("an array", [Data([1])]),
      ("not ASCII", ["\u{e9}": Data([1])]),
    ]
  }

  @Test(arguments: foreign.indices)
  func anyOtherPropertyListIsRefused(_ index: Int) throws {
    let data = try PropertyListSerialization.data(
      fromPropertyList: Self.foreign[index].1, format: .binary, options: 0)
    #expect(
      code { _ = try SuiteContents(reading: Array(data)) } == .damaged,
      "\(Self.foreign[index].0)")
  }

  /// A list of one pair, whose parts a test may replace.
  private static func list(
    references: [UInt8] = [1, 2], key: [UInt8]? = nil, value: [UInt8] = [0x41, 9],
    offsets: [UInt8]? = nil, count: UInt8 = 3, top: UInt8 = 0, pairs: UInt8 = 1
  ) -> [UInt8] {
    let key = key ?? [0x5F, 0x10, 21] + SuiteContents.headerKey
    var bytes = FlatPropertyList.magic + [0xD0 | pairs] + references
    let first = UInt8(bytes.count)
    bytes += key
    let second = UInt8(bytes.count)
    bytes += value
    let table = UInt8(bytes.count)
    bytes += offsets ?? [8, first, second]
    bytes += [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, count]
    return bytes + [0, 0, 0, 0, 0, 0, 0, top] + [0, 0, 0, 0, 0, 0, 0, table]
  }

  @Test func handMadeListsOfOnePairAreReadOrRefusedByTheirForm() throws {
    #expect(try SuiteContents(reading: Self.list()).header == [9])
    let refused: [(String, [UInt8])] = [
      ("an object out of the table", Self.list(references: [1, 3])),
      ("one object used twice", Self.list(references: [1, 1])),
      ("the dictionary as its own value", Self.list(references: [1, 0])),
      ("key and value swapped", Self.list(references: [2, 1])),
      ("a string as the top", Self.list(top: 1)),
      ("a top out of the table", Self.list(top: 3)),
      ("overlapping objects", Self.list(offsets: [8, 11, 11])),
      ("an offset beyond the end", Self.list(offsets: [8, 11, 250])),
      ("more objects than entries", Self.list(count: 4)),
      ("fewer objects than entries", Self.list(count: 2)),
      ("a count beyond the end", Self.list(value: [0x4F, 0x10, 200, 9])),
      ("a count of 2^63", Self.list(value: [0x4F, 0x13, 0x80, 0, 0, 0, 0, 0, 0, 0, 9])),
      (
        "a count of 2^63 - 1",
        Self.list(value: [0x4F, 0x13, 0x7F] + Array(repeating: 0xFF, count: 7))
      ),
      ("a dictionary of more pairs", Self.list(pairs: 2)),
      ("a value that is no data", Self.list(value: [0x10, 9])),
      ("a value that is null", Self.list(value: [0x00])),
    ]
    for (what, bytes) in refused {
      #expect(code { _ = try SuiteContents(reading: bytes) } == .damaged, "\(what)")
    }
  }

  @Test func twoEqualKeysAreRefused() throws {
    var contents = SuiteContents()
    contents.records = [name(1): [1], name(2): [2]]
    var bytes = try contents.propertyList()
    let keys = bytes.indices.filter { index in
      bytes[index...].starts(with: name(1).hexadecimal.utf8)
        || bytes[index...].starts(with: name(2).hexadecimal.utf8)
    }
    #expect(keys.count == 2)
    bytes.replaceSubrange(keys[1]..<keys[1] + 128, with: bytes[keys[0]..<keys[0] + 128])
    #expect(code { _ = try SuiteContents(reading: bytes) } == .damaged)
  }
}
