import Testing

@testable import securestore

/// What is read of dotenv files, line by line.
struct DotenvTests {
  @Test(arguments: [
    ("A=b", "b"), ("A=b\r\n", "b"), ("\u{FEFF}A=b", "b"), ("A = b ", "b"), ("\tA=b", "b"),
    ("export A=b", "b"), ("export\tA=b", "b"), ("A=", ""), ("A=''", ""), ("A=\"\"", ""),
    ("A=b # c", "b"), ("A=b#c", "b#c"), ("A=#c", "#c"), ("A= #c", ""), ("A='b' # c", "b"),
    ("A=b c", "b c"), ("A= b", "b"), ("A=b&c=d", "b&c=d"), ("A=b|c", "b|c"), ("A=b (c)", "b (c)"),
    ("A=b # it's; $X", "b"), ("A=a$", "a$"), ("A=$.5", "$.5"), ("A=\"a$\"", "a$"), ("A==b", "=b"),
    ("A='$B `c` \\'", "$B `c` \\"), ("A=\"\\C\"", "\\C"), ("A=*?![x]%~", "*?![x]%~"),
    ("export A={b}", "{b}"), ("A={b,c}", "{b,c}"), ("export A = b c", "b c"), ("A=b\r", "b"),
    ("A='a\\nb'", "a\\nb"), ("A=\"a\\nb\"", "a\nb"), ("A=\"a\nb\"", "a\nb"), ("A='a\nb'", "a\nb"),
    ("A=\"\\\"\\\\\\$\\`\\t\\r\\x\"", "\"\\$`\t\r\\x"), ("A=\"a\\\nb\"", "ab"),
    ("A='a\r\nb'\r\n", "a\nb"), ("A=\"a\r\nb\"", "a\nb"), ("A=\"a\\\r\nb\"", "ab"),
    ("A=a=b", "a=b"), ("A=1\nA=2", "2"),
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

  @Test(arguments: [
    // A shell or a library replaces it.
    "A=$B", "A=${B}", "A=${B:-c}", "A=a$$", "A=$1", "A=$(b)", "A=`b`", "A=\"$B\"", "A=\"${B}\"",
    "A=\"`b`\"", "A=\"$(b)\"", "A=$'b'", "A=~", "A=~/b", "A=b:~/c",
    // A shell removes or joins it.
    "A=b\\", "A=b\\\nB=c", "A=b\\\r\nB=c", "A=b\\nc", "A=it's", "A={\"b\":1}", "A=b\"c\"",
    "A=\"b\"#c", "A=''#c", "A='b'c", "A=\"b\"\"c\"", "A='b'\\''c'",
    // A shell ends the value, or sets several variables.
    "A=b;c", "A=b;", "A=b>c", "A=<b>", "A=b && c", "A=b||c", "A=(b c)", "A=b B=c", "A= B=c",
    "A=b : c", "A= .", "A=b set c", "export A=b c", "export A= b",
    "export A= 'b'", "export A={b,c}", "export A={1..3}",
    // Libraries read it as an escape, a line end or nothing.
    "A=\"\\a\"", "A=\"\\'\"", "A=b\rB=c", "# c\rA=b", "A='b\rc'", "A=\"b\rc\"",
    "A=b\u{A0}",
    "A=\u{3000}b", "A=b\u{B}", "A=b\u{A0}#c", "A='b'\u{A0}", "A=b\0c",
  ])
  func whatShellsAndLibrariesReadDifferentlyIsRefusedWithItsLine(_ text: String) {
    let failure = #expect(throws: Failure.self) { try Dotenv("X=1\n\n" + text) }
    #expect(failure?.message.hasPrefix("line 3: ") == true)
    #expect(failure?.status == .malformedInput)
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
    let pieces = [
      "'", "\"", "\\", "$", "`", "\n", "\r", "\t", "#", " ", "a", "=", "é", "\u{1}", "~",
    ]
    for first in pieces {
      for second in pieces {
        for third in pieces {
          let value = first + second + third
          let line = try #require(Dotenv.line("A", value))
          let read = try Dotenv(line + "B=x\n")
          #expect(read.entries.map(\.value) == [value, "x"])
        }
      }
    }
  }

  @Test func aZeroByteIsNotWritten() {
    #expect(Dotenv.line("A", "b\0c") == nil)
  }
}
