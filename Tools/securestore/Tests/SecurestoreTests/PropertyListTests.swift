import Foundation
import Testing

@testable import securestore

/// Property lists of Codable values as JSON, and what has no form in one of the two.
struct PropertyListTests {
  private static func data(_ text: String) throws -> Data? {
    PropertyListJSON.data(of: try JSONReader.value(of: text))
  }

  @Test(arguments: [
    "null", "true", "5", "-9223372036854775808", "18446744073709551615", "1.0", "-0.0", "1e+300",
    "\"x\"", "[]", "{}", #"{"a":[1,null,{"b":2.5}]}"#, #"{"$type":"Data","$value":"AAE="}"#,
    #"[{"$type":"Date","$value":-0.1}]"#, #"{"$type":"Double","$value":"-inf"}"#,
    #"{"$type":"JSON","$value":{"$type":"x"}}"#,
  ])
  func itIsWrittenAsItWasRead(_ text: String) throws {
    let data = try #require(try Self.data(text))
    #expect(try PropertyListJSON.json(of: data)?.text == text)
  }

  @Test(arguments: [
    "18446744073709551616", "1e400", "0.12345678901234567890", "\"$null\"", "[\"$null\"]",
    #"{"$type":"Data","$value":"?"}"#, #"{"$type":"Int","$value":1}"#, #"{"$type":"x"}"#,
    #"{"$type":"JSON","$value":[1]}"#,
  ])
  func whatAPropertyListCantHoldIsRefused(_ text: String) throws {
    #expect(try Self.data(text) == nil)
  }
}
