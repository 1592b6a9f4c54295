import Testing

@testable import securestore

/// What is read of dotenv files, line by line.
struct DotenvTests {
  @Test(arguments: [
    ("A=b", "b"), ("A=b\r\n", "b"), ("\u{FEFF}A=b", "b"), ("A = b ", "b"), ("\tA=b", "b"),
    ("export A=b", "b"), ("export\tA=b", "b"), ("A=", ""), ("A=''", ""), ("A=\"\"", ""),
    ("A=b # c", "b"), ("A=b#c", "b#c"), ("A=#c", ""), ("A='b' # c", "b"), ("A=\"b\"#c", "b"),
    ("A='a\\nb'", "a\\nb"), ("A=\"a\\nb\"", "a\nb"), ("A=\"a\nb\"", "a\nb"), ("A='a\nb'", "a\nb"),
    ("A=\"\\\"\\\\\\$\\`\\t\\r\\x\"", "\"\\$`\t\r\\x"), ("A=\"a\\\nb\"", "ab"),
    ("A='a\r\nb'\r\n", "a\nb"), ("A=\"a\r\nb\"", "a\nb"), ("A=\"a\\\r\nb\"", "ab"),
    ("A='a\rb'", "a\rb"), ("A=a\\nb", "a\\nb"), ("A=$B", "$B"), ("A=a=b", "a=b"),
    ("A=it's", "it's"), ("A=1\nA=2", "2"),
  ])
  func aValueIsRead(_ text: String, _ value: String) throws {
    #expect(try Dotenv(text).entries.map(\.name) == ["A"])
    #expect(try Dotenv(text).entries.map(\.value) == [value])
  }

  @Test(arguments: ["", "\n\n", "# c", "  # c\r\n"])
  func nothingIsNoValue(_ text: String) throws {
    #expect(try Dotenv(text).entries.isEmpty)
  }

  @Test(arguments: [
    "A", "=b", "1A=b", "export A", "A b=c", "A='b", "A=\"b", "A='b'c", "A=\"b\\\"", "a$=b", "é=b",
  ])
  func aMalformedLineIsRefused(_ text: String) {
    #expect(throws: Failure.self) { try Dotenv("X=1\n" + text) }
  }

  @Test(arguments: ["ÜMLAUT=x", "MÜ=x", "1A=x"])
  func anotherNameIsToldTheRule(_ text: String) {
    let failure = #expect(throws: Failure.self) { try Dotenv(text) }
    #expect(failure?.message.contains("ASCII letters, digits, _") == true)
  }

  @Test func namesThatAreNoVariablesAreNotWritten() {
    #expect(Dotenv.isName("A_1.b-c"))
    for name in ["", "1A", "a b", "a=b", "a\n", "é"] { #expect(!Dotenv.isName(name)) }
  }

  @Test func everyValueIsReadBackAsItWasWritten() throws {
    let pieces = ["'", "\"", "\\", "$", "`", "\n", "\r", "\t", "#", " ", "a", "=", "é", "\u{1}"]
    for first in pieces {
      for second in pieces {
        for third in pieces {
          let value = first + second + third
          let read = try Dotenv(Dotenv.line("A", value) + Dotenv.line("B", "x"))
          #expect(read.entries.map(\.value) == [value, "x"])
        }
      }
    }
  }
}
