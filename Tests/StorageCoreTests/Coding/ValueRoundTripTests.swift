import Foundation
import StorageCore
import Testing

@Suite struct ValueRoundTripTests {
  private let storage = DelegatedStorage.fresh()

  private func back<Value>(_ value: Value) throws -> Value? {
    try storage.save(value, forKey: "k")
    return try storage.load(Value.self, forKey: "k")
  }

  private func expect<Value: Equatable>(_ values: Value...) throws {
    for value in values { #expect(try back(value) == value) }
  }

  @Test func integersOfEveryWidth() throws {
    try expect(Int.min, -1, 0, 1, Int.max)
    try expect(Int8.min, 0, Int8.max)
    try expect(Int16.min, 0, Int16.max)
    try expect(Int32.min, 0, Int32.max)
    try expect(Int64.min, 0, Int64.max)
    try expect(UInt.min, UInt.max)
    try expect(UInt8.min, UInt8.max)
    try expect(UInt16.min, UInt16.max)
    try expect(UInt32.min, UInt32.max)
    try expect(UInt64.min, UInt64.max)
    try expect(true, false)
  }

  @Test func floatingPointNumbersKeepEveryBit() throws {
    let doubles: [Double] = [
      0, -0.0, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .pi, .nan,
      Double(nan: 0x1234, signaling: false), -.nan, Double(bitPattern: 0xFFF8_0000_0000_0001),
    ]
    for value in doubles { #expect(try back(value)?.bitPattern == value.bitPattern) }
    let floats: [Float] = [
      0, -0.0, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
      Float(nan: 0x12, signaling: false), -.nan,
    ]
    for value in floats { #expect(try back(value)?.bitPattern == value.bitPattern) }
  }

  @Test func stringsKeepEveryByte() throws {
    let strings = [
      "", "a", "\u{0}", "a\u{0}b", "\n\r\t", "caf\u{E9}", "cafe\u{301}", "\u{FEFF}bom",
      "\u{10FFFF}",
      "\u{1F469}\u{200D}\u{1F469}\u{200D}\u{1F466}", "\u{202E}rtl", "\u{FFFD}",
      String(repeating: "\u{1F511}", count: 1 << 18),
    ]
    for value in strings {
      #expect(try back(value).map { Array($0.utf8) } == Array(value.utf8))
    }
  }

  @Test func foundationTypes() throws {
    try expect(Data(), Data([0]), Data(0...255), Data(repeating: 7, count: 1 << 20))
    try expect(
      Date.distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 0),
      Date(timeIntervalSince1970: 0.1), Date(timeIntervalSinceReferenceDate: -1e300))
    try expect(UUID(), UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
    for text in [
      "https://example.com", "https://user@example.com:8080/a%20b?c=d#e", "file:///tmp/a%20b",
      "mailto:a@b.c", "relative/path", "a:", "?query", "#fragment",
    ] { try expect(try #require(URL(string: text))) }
  }

  @Test func aSliceOfDataIsStoredAsItsBytes() throws {
    let slice = Data(0...99)[40..<50]
    #expect(try back(slice).map { Array($0) } == Array(40..<50))
  }

  @Test func aRelativeURLIsStoredWhole() throws {
    let base = try #require(URL(string: "https://example.com/a/"))
    let url = try #require(URL(string: "b", relativeTo: base))
    #expect(try back(url)?.absoluteString == "https://example.com/a/b")
  }

  @Test func decimalsKeepEveryDigit() throws {
    for value in [
      Decimal(), 1, -1, Decimal.greatestFiniteMagnitude, -Decimal.greatestFiniteMagnitude,
      .leastNonzeroMagnitude, .leastNormalMagnitude, .pi,
      try #require(Decimal(string: "0.1")), try #require(Decimal(string: "1e-127")),
      try #require(Decimal(string: "123456789012345678901234567890.12345678")),
      try #require(Decimal(string: "1e100")),
    ] { #expect(try back(value) == value, "\(value)") }
    #expect(try back(Decimal.nan)?.isNaN == true)
  }

  @Test func collectionsOfCollections() throws {
    try expect([Int](), [1, 2, 3])
    try expect([[["a"], []], []])
    try expect(Set<String>(), ["a", "b"], Set((0..<1000).map(String.init)))
    try expect(["a": 1], [:], ["": 0, "b": 2])
    try expect([1: ["a": [Data()]], -1: [:]])
    try expect([Set([1, 2]), Set([3])])
    try expect(Dictionary(uniqueKeysWithValues: (0..<1000).map { ($0, "\($0)") }))
    try expect([true: [Date.distantPast]])
  }

  @Test func optionalsInEveryPlace() throws {
    try expect(Int?.some(1), .none)
    try expect([1, nil, 3], [nil], [])
    try expect(["a": nil, "b": 1] as [String: Int?])
    try expect(Set([nil, 1]) as Set<Int?>)
    try expect(Int???.some(.some(.none)), .some(.none), .none, 5)
    try expect([[nil, "a"], nil] as [[String?]?])
  }
}
