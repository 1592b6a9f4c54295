import Testing

@testable import securestore

/// What is read as JSON, and written again.
struct JSONTests {
  @Test(arguments: [
    "null", "true", "false", "0", "-1.5e+10", "1E5", "18446744073709551616", "\"\"",
    "\"a\\\"\\\\\\n\"", "[]", "[1,[2]]", "{}", "{\"b\":1,\"a\":{}}", "\"é✓\"",
  ])
  func itIsWrittenAsItWasRead(_ text: String) throws {
    #expect(try JSONReader.value(of: " \(text)\n").text == text)
  }

  @Test func escapesAreResolved() throws {
    #expect(try JSONReader.value(of: #""\u00e9\ud83d\ude00\/\b""#).string == "é😀/\u{8}")
  }

  @Test(arguments: [
    "", "nul", "01", "1.", ".5", "+1", "1e", "-", "\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"",
    "\"\u{1}\"", "[1,]", "[1", "{\"a\"}", "{\"a\":1,}", "{a:1}", "{\"a\":1,\"a\":2}", "1 2", "'a'",
    "// c\n1", "\"\\u+123\"",
  ])
  func whatIsNotJSONIsRefused(_ text: String) {
    #expect(throws: Failure.self) { try JSONReader.value(of: text) }
  }

  @Test func nestingHasALimit() {
    let deep = String(repeating: "[", count: 10_000)
    #expect(throws: Failure.self) { try JSONReader.value(of: deep) }
  }
}
