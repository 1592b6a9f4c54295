import Foundation
import StorageCore
import TestSupport
import Testing
import VaultBackend

/// What import stores of text that tools read differently, and what it says of it.
struct ImportedTextTests {
  private static func type(_ tool: Tool, _ name: String) throws -> String? {
    try tool.run("get", name, "--json").json()["type"] as? String
  }

  @Test func aValueMayBeginWithAHash() throws {
    let tool = try Tool()
    #expect(try tool.run("import", "-", input: "PASSWORD=#s3cret\n").code == 0)
    #expect(try tool.run("get", "PASSWORD").text == "#s3cret")
  }

  @Test(arguments: ["A=hunter2\\\nB=x\n", "A=$hunter2\n", "A=hunter2;B=1\n", "A='hunter2'x\n"])
  func aRefusedLineChangesNothingAndIsNotQuoted(_ text: String) throws {
    let tool = try Tool()
    try tool.write("X=1\n" + text, to: "app.env")
    let result = try tool.run("import", "app.env")
    #expect(result.code == 65)
    #expect(result.errors.contains("key \"A\": app.env: line 2: "), "\(result.errors)")
    #expect(!result.errors.contains("hunter2"))
    #expect(try tool.run("list").text == "")
  }

  // MARK: - Types of YAML

  @Test func wordsOfYAML11AreTextAndWarnedOf() throws {
    let tool = try Tool()
    let result = try tool.run(
      "import", "-", "--format", "yaml", input: "COUNTRY: NO\nok: true\nlist: [yes, no]\n")
    #expect(result.code == 0)
    #expect(result.errors.contains("warning: ") && result.errors.contains("line 1, 3;"))
    #expect(try tool.run("get", "COUNTRY").text == "NO")
    #expect(try Self.type(tool, "COUNTRY") == "String")
    #expect(try Self.type(tool, "ok") == "Bool")
    #expect(try tool.run("get", "list").text == #"["yes","no"]"#)
  }

  @Test func aTypeDecidesWithoutAWarning() throws {
    let tool = try Tool()
    let text = "COUNTRY: NO\nON: on\n"
    let result = try tool.run(
      "import", "-", "--format", "yaml", "--type", "string", "--type", "ON=bool", input: text)
    #expect(result.code == 0 && !result.errors.contains("warning"), "\(result.errors)")
    #expect(try tool.run("get", "COUNTRY").text == "NO")
    #expect(try Self.type(tool, "ON") == "Bool")
  }

  @Test(
    arguments: Depth.cases(
      [
        "NO", "yes", "True", "FALSE", "1.10", "+1", "0x1F", "01234", "0o17", "0b11", "1_000",
        "12:30",
        "1e3", ".5", "1.", ".inf", "123456789012345678901234", "2026-01-01",
      ], day: 5))
  func theTypeStringKeepsTheTextAsWritten(_ text: String) throws {
    let tool = try Tool()
    let yaml = "A: \(text)\nB: {C: \(text)}\n"
    let result = try tool.run(
      "import", "-", "--format", "yaml", "--nested", "--type", "string", input: yaml)
    #expect(result.code == 0, "\(result.errors)")
    for name in ["A", "B.C"] {
      #expect(try tool.run("get", name).text == text)
      #expect(try Self.type(tool, name) == "String")
    }
  }

  @Test func storedTextIsReplacedByTheTextAsWritten() throws {
    let tool = try Tool()
    _ = try tool.run("set", "ZIP", input: "99999")
    #expect(
      try tool.run("import", "-", "--format", "yaml", "--overwrite", input: "ZIP: 01234\n").code
        == 0)
    #expect(try tool.run("get", "ZIP").text == "01234")
  }

  @Test func aNumberThatReadersDifferOnIsRefusedWithItsPlace() throws {
    let tool = try Tool()
    try tool.write("a: 1\nZIP: 01234\n", to: "a.yaml")
    for options in [[], ["--nested"], ["--type", "int"], ["--type", "a=string"]] {
      let result = try tool.run(["import", "a.yaml"] + options)
      #expect(result.code == 65 && result.errors.contains("a.yaml: line 2, column 6: "))
      #expect(!result.errors.contains("1234"))
    }
    #expect(try tool.run("list").text == "")
  }

  @Test(arguments: ["a: ~\n", "a:\n", "a: null\n", "b: {a: Null}\n"])
  func nullIsNoTextEither(_ text: String) throws {
    let tool = try Tool()
    let result = try tool.run(
      "import", "-", "--format", "yaml", "--nested", "--type", "string", input: text)
    #expect(result.code == 65 && result.errors.contains("null"), "\(result.errors)")
  }

  @Test func aMergeKeyMerges() throws {
    let tool = try Tool()
    let text = """
      base: &base {user: app, pool: 5}
      live:
        <<: *base
        pool: 20
      """
    #expect(try tool.run("import", "-", "--format", "yaml", "--nested", input: text).code == 0)
    #expect(try tool.run("list").lines == ["base.pool", "base.user", "live.pool", "live.user"])
    #expect(try tool.run("get", "live.pool").text == "20")
  }

  // MARK: - Nested values

  @Test(arguments: [
    ("json", #"{"a": {}, "b": {"c": {}, "d": []}, "e": []}"#),
    ("yaml", "a: {}\nb:\n  c: {}\n  d: []\ne: []\n"),
  ])
  func anEmptyObjectOrListStays(_ format: String, _ text: String) throws {
    let tool = try Tool()
    #expect(try tool.run("import", "-", "--format", format, "--nested", input: text).code == 0)
    #expect(try tool.run("list").lines == ["a", "b.c", "b.d", "e"])
    for (name, value) in [("a", "{}"), ("b.c", "{}"), ("b.d", "[]"), ("e", "[]")] {
      #expect(try tool.run("get", name).text == value)
    }
    #expect(try tool.run("export", "--to", "a.json").code == 0)
    _ = try tool.run("remove", "a", "b.c", "b.d", "e")
    #expect(try tool.run("import", "a.json").code == 0)
    #expect(try tool.run("get", "b.c").text == "{}")
    #expect(try Self.type(tool, "b.d") == "[String]")
  }

  @Test func aListOfNumbersKeepsEveryDigit() throws {
    let tool = try Tool()
    let text = """
      {"u": [1, 18446744073709551615], "mixed": [9007199254740993, 0.5], "fine": [1, 0.5],
       "both": [-1, 18446744073709551615]}
      """
    let result = try tool.run("import", "-", "--format", "json", "--nested", input: text)
    #expect(result.code == 0, "\(result.errors)")
    #expect(try Self.type(tool, "u") == "[UInt]")
    #expect(try tool.run("get", "u").text == "[1,18446744073709551615]")
    #expect(try tool.run("get", "mixed").text == "[9007199254740993,0.5]")
    #expect(try tool.run("get", "both").text == "[-1,18446744073709551615]")
    #expect(try Self.type(tool, "fine") == "[Double]")
  }

  // MARK: - Export

  private static let values = [
    "LINES": "a\nb\n", "QUOTES": "it's \"it\"\n", "SLASHES": "\\\\server\\", "END": "a\\",
    "HASH": "#x", "TILDE": "~/x", "SPACES": " a\tb ", "MARKS": "a;b&c|d<e>f(g)!*?[x]{y,z}",
    "NOT_ASCII": "é✓\u{A0}", "PEM": "-----BEGIN X-----\nYQ==\n-----END X-----\n", "N": "\\n",
    "DOLLAR": "$HOME `x` ${X} \\ \\\\", "BOTH": "it's $HOME", "EMPTY": "", "UNIT": "a\u{1F}b",
  ]

  @Test func aShellReadsAnExportedFileAsWeDo() throws {
    let tool = try Tool()
    for (name, value) in Self.values {
      _ = try tool.run("set", name, "--raw", "--allow-empty", input: value)
    }
    #expect(try tool.run("export", "--to", "out.env").code == 0)
    for shell in ["bash", "sh"] {
      for (name, value) in Self.values {
        let result = try tool.shell("\(shell) -c 'set -a; . ./out.env; printf %s \"$\(name)\"'")
        #expect(result.text == value, "\(name) in \(shell)")
      }
    }
    #expect(try tool.run("import", "out.env", "--overwrite").code == 0)
    for (name, value) in Self.values { #expect(try tool.run("get", name).text == value) }
  }

  @Test func aZeroByteIsNotExportedAsDotenv() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x\0y")
    let refused = try tool.run("export", "--stdout", "--format", "dotenv")
    #expect(refused.code == 18 && refused.text == "" && refused.errors.contains("zero byte"))
    #expect(try tool.run("import", "-", "--overwrite", input: "A=x\0y\n").code == 65)
  }
}
