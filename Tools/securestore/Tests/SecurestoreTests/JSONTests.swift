import Foundation
import Testing

@testable import securestore

/// What is read as JSON, and written again.
struct JSONTests {
  @Test(arguments: [
    "null", "true", "false", "0", "-1.5e+10", "1E5", "18446744073709551615", "\"\"",
    "\"a\\\"\\\\\\n\"", "[]", "[1,[2]]", "{}", "{\"b\":1,\"a\":{}}", "\"é✓\"",
  ])
  func itIsWrittenAsItWasRead(_ text: String) throws {
    #expect(try JSONReader.value(of: " \(text)\n").text == text)
  }

  @Test func aByteOrderMarkIsNoPartOfIt() throws {
    #expect(try JSONReader.value(of: "\u{FEFF}[1]").text == "[1]")
    #expect(throws: Failure.self) { try JSONReader.value(of: "\u{FEFF}\u{FEFF}[1]") }
  }

  @Test func escapesAreResolved() throws {
    #expect(try JSONReader.value(of: #""\u00e9\ud83d\ude00\/\b""#).string == "é😀/\u{8}")
  }

  @Test(arguments: [
    "", "nul", "01", "1.", ".5", "+1", "1e", "-", "\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"",
    "\"\u{1}\"", "[1,]", "[1", "{\"a\"}", "{\"a\":1,}", "{a:1}", "{\"a\":1,\"a\":2}", "1 2", "'a'",
    "// c\n1", "\"\\u+123\"", "[{\"é\":1,\"e\u{301}\":2}]",
  ])
  func whatIsNotJSONIsRefused(_ text: String) {
    #expect(throws: Failure.self) { try JSONReader.value(of: text) }
  }

  @Test(arguments: [
    "0", "-0", "-0.0", "0e999", "18446744073709551616", "-9223372036854775809", "1.50", "123e-2",
    "99999999999999999.99", "340282366920938463463374607431768211455", "1e400", "-1E-400",
    "0.10000000000000000000000000000000000001", "1e99999999999999999999",
  ])
  func aNumberKeepsEveryDigit(_ text: String) throws {
    #expect(try JSONReader.value(of: "[\(text)]").text == "[\(text)]")
  }

  @Test(arguments: [
    "0", "-0.0", "0e999", "9007199254740992", "1152921504606846976", "1.0", "1.50", "0.1",
    "0.10000000000000001", "3.1415926535897931", "1e300", "5e-324", "123e-2",
    "100000000000000000000", "100000000000000000000.000", "-0",
  ])
  func aNumberThatADoubleHoldsIsTaken(_ text: String) throws {
    let value = try #require(Double.reading(.number(text)))
    #expect(value.bitPattern == Double(text)?.bitPattern)
    #expect(Double.reading(text: text, exactly: true)?.bitPattern == value.bitPattern)
  }

  @Test(arguments: [
    "9007199254740993", "18446744073709551615", "12345678901234567890123", "1e400", "-1e400",
    "1e-400", "1e99999999999999999999", "0.1234567890123456789", "9007199254740993.00001",
  ])
  func aNumberThatADoubleWouldChangeIsRefused(_ text: String) {
    #expect(Double.reading(.number(text)) == nil)
    #expect(Double.reading(text: text, exactly: true) == nil)
    #expect([Double].reading(.array([.number(text)])) == nil)
  }

  @Test func aFloatIsTakenInItsOwnDigitsOrInThoseOfADouble() {
    for text in ["0.1", "0.10000000149011612", "16777216", "3.4028235e+38", "1e-45"] {
      #expect(Float.reading(.number(text)) == Float(text), "\(text)")
    }
    for text in ["0.1234567891", "16777217", "1e39", "3.14159265358979"] {
      #expect(Float.reading(.number(text)) == nil, "\(text)")
    }
  }

  @Test(arguments: [
    ("{\n\"a\": 1\n\n\n", 2), ("[1,\n2,\n", 2), ("\n{\"a\":\n", 2), ("[\"a\n\"]", 1), ("", 1),
    ("[\n\"a\\\n\"]", 2), ("[1\n2]", 2),
  ])
  func theLineIsThatOfTheMistake(_ text: String, _ line: Int) {
    let failure = #expect(throws: Failure.self) { try JSONReader.value(of: text) }
    #expect(failure?.message.hasPrefix("line \(line) is not JSON: ") == true)
  }

  @Test func theMistakeIsSaidWithItsPlace() {
    let mistakes = [
      ("A=1", "line 1 is not JSON: a value is needed, at column 1"),
      ("{\"a\":1,\n \"b\": }", "line 2 is not JSON: a value is needed, at column 7"),
      ("[1,-]", "line 1 is not JSON: a digit is needed, at column 5"),
    ]
    for (text, message) in mistakes {
      #expect(#expect(throws: Failure.self) { try JSONReader.value(of: text) }?.message == message)
    }
  }

  @Test func namesOfValuesDifferByTheirBytes() throws {
    let text = "{\"é\":1,\"e\u{301}\":2}"
    #expect(throws: Never.self) { try JSONReader.value(of: text, names: .ofValues) }
    #expect(throws: Failure.self) { try JSONReader.value(of: text) }
    #expect(throws: Never.self) { try JSONReader.value(of: text, names: .any) }
  }

  @Test func nestingHasALimit() {
    let open = String(repeating: "[", count: 500)
    let close = String(repeating: "]", count: 500)
    #expect(throws: Never.self) { try JSONReader.value(of: open + close) }
    let deep = String(repeating: "[", count: 10_000)
    #expect(throws: Failure.self) { try JSONReader.value(of: deep) }
  }

  @Test func whatSteersATerminalIsEscaped() throws {
    let controls = [0x7F, 0x9B, 0x61C, 0x200E, 0x200F] + Array(0x202A...0x202E)
    for value in controls + Array(0x2066...0x2069) {
      let scalar = try #require(Unicode.Scalar(UInt32(value)))
      let text = JSONValue.string("a\(scalar)b").text
      #expect(text == String(format: "\"a\\u%04xb\"", value))
      #expect(try JSONReader.value(of: text).string == "a\(scalar)b")
    }
  }
}
