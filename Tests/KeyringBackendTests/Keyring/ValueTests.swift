import Foundation
import Testing

@testable import KeyringBackend

private struct Point: Codable, Equatable, Sendable {
  var x: Int
  var name: String
}

@Suite(.ownDaemon) struct ValueTests {
  private let desktop: Desktop
  private let container: Keyring.Container

  init() throws {
    desktop = try Desktop()
    container = desktop.keyring().container(for: "account")
  }

  private func keeps<Value: Codable & Equatable>(_ values: Value...) throws {
    for value in values {
      try container.store(value)
      #expect(try container.fetch(Value.self) == value)
    }
  }

  @Test func everyIntegerComesBackAsItWas() throws {
    try keeps(Int.min, -1, 0, Int.max)
    try keeps(Int8.min, Int8.max)
    try keeps(Int16.min, Int16.max)
    try keeps(Int32.min, Int32.max)
    try keeps(Int64.min, Int64.max)
    try keeps(UInt.max)
    try keeps(UInt8.max)
    try keeps(UInt16.max)
    try keeps(UInt32.max)
    try keeps(UInt64.max)
    try keeps(Int128.min)
    try keeps(UInt128.max)
  }

  @Test func floatingPointNumbersComeBackBitForBit() throws {
    let doubles = [
      0, -0.0, 0.1, 1e22, 1e23, .pi, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity,
      -.infinity, .nan, Double.leastNormalMagnitude, 123_456_789_012_345_680,
    ]
    for number in doubles {
      try container.store(number)
      let back = try #require(try container.fetch(Double.self))
      #expect(back.bitPattern == number.bitPattern, "\(number)")
    }
    let floats: [Float] = [0.1, -0, .pi, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .nan]
    for number in floats {
      try container.store(number)
      #expect(try container.fetch(Float.self)?.bitPattern == number.bitPattern, "\(number)")
    }
  }

  @Test func theRestComesBackAsItWas() throws {
    try keeps(true, false)
    try keeps("", "text", "zero \0 in it", "Käse\r\n")
    try keeps(Data(), Data([0, 255, 0]), Data("text".utf8))
    try keeps(Point(x: 1, name: "ä"))
    try keeps([1, 2], [])
    try keeps(["a": [true]])
    try keeps(Date(timeIntervalSinceReferenceDate: 0.1))
  }

  @Test func theTypeMayComeFromTheContext() throws {
    try container.store("text")
    let text: String? = try container.fetch()
    #expect(text == "text")
    let dropped: String? = try container.drop()
    #expect(dropped == "text")
    let nothing: String? = try container.fetch()
    #expect(nothing == nil)
  }

  @Test func aValueOfAnotherTypeIsAMismatchAndStays() throws {
    func refuses<Value: Codable>(_ type: Value.Type, _ secret: some Codable) throws {
      try container.store(secret)
      #expect(code { _ = try container.fetch(type) } == .typeMismatch, "\(type) \(secret)")
      #expect(code { _ = try container.drop(type) } == .typeMismatch, "\(type) \(secret)")
      #expect(try container.fetch(Data.self) != nil)
    }
    try refuses(Int.self, "")
    try refuses(Int.self, "4.0")
    try refuses(Int.self, " 4")
    try refuses(Int.self, "4 2")
    try refuses(Int.self, "4\n\n")
    try refuses(Int.self, "0x10")
    try refuses(Int.self, Double(4))
    try refuses(Int8.self, 128)
    try refuses(UInt.self, -1)
    try refuses(Bool.self, 1)
    try refuses(Bool.self, "TRUE")
    try refuses(Double.self, "1e999")
    try refuses(Double.self, "one")
    try refuses(Float.self, 1e300)
    try refuses(String.self, Data([0xff]))
    try refuses(String.self, Data([0xed, 0xa0, 0x80]))
    try refuses(Point.self, "text")
    try refuses(Point.self, ["x": 1])
    try refuses([Int].self, Data([0xff]))
  }

  @Test func whatAPersonWritesIsANumber() throws {
    let cases: [(String, Int?, Double?)] = [
      ("42\n", 42, 42), ("-7", -7, -7), ("007", 7, 7), ("2.5\n", nil, 2.5), ("inf", nil, .infinity),
    ]
    for (text, integer, double) in cases {
      try container.store(text)
      if let integer { #expect(try container.fetch(Int.self) == integer) }
      if let double { #expect(try container.fetch(Double.self) == double) }
    }
    try container.store("true\n")
    #expect(try container.fetch(Bool.self) == true)
  }

  @Test func anOptionalIsRefusedAndChangesNothing() throws {
    try container.store("before")
    #expect(code { try container.store(String?.none) } == .invalid)
    #expect(code { try container.store(String?.some("x")) } == .invalid)
    #expect(code { _ = try container.fetch(String?.self) } == .invalid)
    #expect(try container.fetch(String.self) == "before")
  }

  @Test func whatDoesNotEncodeIsInvalidAndChangesNothing() throws {
    try container.store("before")
    #expect(code { try container.store([Double.nan]) } == .invalid)
    #expect(try container.fetch(String.self) == "before")
  }

  @Test func numbersAreTextThatAPersonReads() throws {
    let foreign = try Foreign(desktop)
    let keyring = desktop.keyring("numbers")
    let values: [(any Codable & Sendable, String)] = [
      (Int64(-42), "-42"), (true, "true"), (0.1, "0.1"), (Float(0.1), "0.1"),
      (Double.infinity, "inf"), (Double.nan, "nan"), (1e21, "1e+21"), ([1, 2], "[1,2]"),
    ]
    for (value, text) in values {
      try keyring.container(for: "a").store(value)
      #expect(try foreign.lookUp(["service": "numbers", "account": "a"]) == Array(text.utf8))
    }
  }
}
