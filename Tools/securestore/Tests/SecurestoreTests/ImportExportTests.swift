import Foundation
import StorageCore
import Testing
import VaultBackend

/// Files of values, in and out.
struct ImportExportTests {
  private static let environment = """
    # a comment
    export PLAIN=value # and why
    QUOTED="two
    lines \\"q\\" \\$HOME \\t"
    SINGLE='$HOME "as it is"'
      SPACED =  a b  c
    EMPTY=
    HASH=a#b
    PLAIN=later

    """

  @Test func aDotenvFileIsImportedInOneStep() throws {
    let tool = try Tool()
    try tool.write(Self.environment, to: "app.env")
    let result = try tool.run("import", "app.env", "--json")
    #expect(try result.json()["imported"] as? Int == 6)
    for (name, value) in [
      ("PLAIN", "later"), ("QUOTED", "two\nlines \"q\" $HOME \t"), ("SINGLE", "$HOME \"as it is\""),
      ("SPACED", "a b  c"), ("EMPTY", ""), ("HASH", "a#b"),
    ] {
      #expect(try tool.run("get", name).text == value)
    }
  }

  @Test func aMalformedFileChangesNothingAndIsNotQuoted() throws {
    let tool = try Tool()
    try tool.write("GOOD=1\nBAD=\"hunter2-secret\n", to: "app.env")
    let result = try tool.run("import", "app.env")
    #expect(result.code == 65)
    #expect(result.errors.contains("app.env"))
    #expect(result.errors.contains("line 2"))
    #expect(!result.errors.contains("hunter2"))
    #expect(try tool.run("list").text == "")
  }

  @Test func aLargeNumberIsReadBackOrRefusedByName() throws {
    let tool = try Tool()
    let large = #"{"q":{"n":12345678901234567890,"x":1.5,"e":1e20}}"#
    #expect(try tool.run("import", "-", "--format", "json", input: large).code == 0)
    #expect(try tool.run("get", "q").text == #"{"n":12345678901234567890,"x":1.5,"e":1e20}"#)
    #expect(
      try tool.run("export", "--stdout", "--format", "json").text.contains("12345678901234567890"))
    try tool.write("{\"a\": 1,\n \"b\": 1e400}\n", to: "bad.json")
    let refused = try tool.run("import", "bad.json")
    #expect(refused.code == 65)
    #expect(refused.errors.contains("key \"b\": "))
    #expect(try tool.run("list").lines == ["q"])
    let typed = #"{"a":{"$type":"Double","$value":1e400}}"#
    #expect(try tool.run("import", "-", "--format", "json", input: typed).code == 65)
    let nested = #"{"a":{"list":[1.5,12345678901234567890123]}}"#
    #expect(try tool.run("import", "-", "--format", "json", "--nested", input: nested).code == 0)
    #expect(try tool.run("get", "a.list").text == "[1.5,12345678901234567890123]")
  }

  @Test func countsAreInTheSingularAndThePlural() throws {
    let tool = try Tool()
    let one = try tool.run("import", "-", input: "A=1\n")
    #expect(one.errors.contains("imported 1 value: 1 as text\n"))
    let two = try tool.run("import", "-", input: "B=1\nC=1\n")
    #expect(two.errors.contains("imported 2 values: 2 as text\n"))
    #expect(try tool.run("export", "--to", "a.env", "A").errors.contains("exported 1 value to"))
  }

  @Test func aConflictChangesNothingUnlessToldWhatToDo() throws {
    let tool = try Tool()
    _ = try tool.run("set", "B", input: "old")
    try tool.write("A=1\nB=new\nC=3\n", to: "app.env")
    let refused = try tool.run("import", "app.env")
    #expect(refused.code == 3)
    #expect(refused.errors.contains("B"))
    #expect(try tool.run("list").lines == ["B"])

    #expect(try tool.run("import", "app.env", "--keep", "--json").json()["imported"] as? Int == 2)
    #expect(try tool.run("get", "B").text == "old")
    #expect(try tool.run("import", "app.env", "--overwrite").code == 0)
    #expect(try tool.run("get", "B").text == "new")
  }

  @Test func standardInputIsImported() throws {
    let tool = try Tool()
    #expect(try tool.run("import", "-", input: "A=1\n").code == 0)
    #expect(try tool.run("import", "-", "--format", "json", input: #"{"B":2}"#).code == 0)
    #expect(try tool.run("get", "B", "--json").json()["type"] as? String == "Int")
  }

  @Test func anExportGoesNowhereUnlessTold() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "hunter2")
    let result = try tool.run("export")
    #expect(result.code == 64)
    #expect(!(result.text + result.errors).contains("hunter2"))
  }

  @Test func anExportedFileIsNewAndForItsOwnerAlone() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "hunter2")
    #expect(try tool.run("export", "--to", "out.env").code == 0)
    let attributes = try FileManager.default.attributesOfItem(atPath: tool.path("out.env"))
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(try String(contentsOfFile: tool.path("out.env"), encoding: .utf8) == "A=hunter2\n")

    try tool.write("mine", to: "there.env")
    #expect(try tool.run("export", "--to", "there.env").code == 3)
    #expect(try String(contentsOfFile: tool.path("there.env"), encoding: .utf8) == "mine")
    try FileManager.default.createSymbolicLink(
      atPath: tool.path("link.env"), withDestinationPath: tool.path("elsewhere"))
    #expect(try tool.run("export", "--to", "link.env").code == 3)
    #expect(!FileManager.default.fileExists(atPath: tool.path("elsewhere")))
  }

  @Test func whatIsExportedAsDotenvIsReadTheSameByUsAndByAShell() throws {
    let values = [
      "PLAIN": "a.b/c:d@e", "SPACES": " a  b ", "DOLLAR": "$HOME `x` \\", "QUOTE": "it's \"it\"",
      "BOTH": "it's $HOME\\ \"x\"", "EMPTY": "", "UNICODE": "é✓", "HASH": "#x", "EQUALS": "a=b",
    ]
    let tool = try Tool()
    for (name, value) in values {
      _ = try tool.run("set", name, "--raw", "--allow-empty", input: value)
    }
    _ = try tool.run("set", "LINES", "--raw", input: "a\nb\r\n'")
    #expect(try tool.run("export", "--to", "out.env").code == 0)
    for (name, value) in values {
      let shell = try tool.shell("set -a; . ./out.env; printf %s \"$\(name)\"")
      #expect(shell.text == value, "\(name) in a shell")
    }

    let other = ["--vault", "other.vault", "--key-file", "other.key"]
    #expect(try tool.run(["init"] + other).code == 0)
    #expect(try tool.run(["import", "out.env"] + other).code == 0)
    for (name, value) in values {
      #expect(try tool.run(["get", name] + other).text == value)
    }
    #expect(try tool.run(["get", "LINES"] + other).text == "a\nb\r\n'")
  }

  @Test func whatIsExportedAsJSONIsTheSameAgain() throws {
    let tool = try Tool()
    let key = KeySource.file(URL(fileURLWithPath: tool.keyFile))
    let storage = VaultStorage(at: URL(fileURLWithPath: tool.vault), keySource: key)
    try Self.fill(storage)
    #expect(try tool.run("export", "--to", "out.json").code == 0)
    let other = ["--vault", "other.vault", "--key-file", "other.key"]
    #expect(try tool.run(["init"] + other).code == 0)
    let imported = try tool.run(["import", "out.json"] + other)
    #expect(imported.code == 0, "\(imported.errors)")
    #expect(try tool.run(["export", "--to", "again.json"] + other).code == 0)
    let copy = VaultStorage(
      at: URL(fileURLWithPath: tool.path("other.vault")),
      keySource: .file(URL(fileURLWithPath: tool.path("other.key"))))
    try Self.compare(copy, storage)
  }

  private static func fill(_ storage: VaultStorage) throws {
    try storage.save("text", forKey: "string")
    try storage.save(true, forKey: "bool")
    try storage.save(Int.min, forKey: "int")
    try storage.save(UInt64.max, forKey: "uint64")
    try storage.save(Int8(-3), forKey: "int8")
    try storage.save(1.0, forKey: "double")
    try storage.save(Double.infinity, forKey: "infinity")
    try storage.save(Float(0.1), forKey: "float")
    try storage.save(Data([0, 255]), forKey: "data")
    try storage.save(Date(timeIntervalSinceReferenceDate: 1.1), forKey: "date")
    try storage.save(URL(string: "https://example.com/?a=b"), forKey: "url")
    try storage.save(UUID(), forKey: "uuid")
    try storage.save(Decimal(string: "0.1"), forKey: "decimal")
    try storage.save(["a", "b"], forKey: "strings")
    try storage.save([1, 2], forKey: "ints")
    try storage.save(["a": [Data([1])]], forKey: "nested")
    try storage.save(Set(["x"]), forKey: "set")
    try storage.save(["$type": "x"], forKey: "dollar")
  }

  private static func compare(_ one: VaultStorage, _ other: VaultStorage) throws {
    func same<Value: Equatable>(_ type: Value.Type, _ key: String) throws {
      let value = try #require(try other.load(type, forKey: key))
      #expect(try one.load(type, forKey: key) == value, "\(key)")
    }
    try same(String.self, "string")
    try same(Bool.self, "bool")
    try same(Int.self, "int")
    try same(UInt64.self, "uint64")
    try same(Int8.self, "int8")
    try same(Double.self, "double")
    try same(Double.self, "infinity")
    try same(Float.self, "float")
    try same(Data.self, "data")
    try same(Date.self, "date")
    try same(URL.self, "url")
    try same(UUID.self, "uuid")
    try same(Decimal.self, "decimal")
    try same([String].self, "strings")
    try same([Int].self, "ints")
    try same([String: [Data]].self, "nested")
    try same(Set<String>.self, "set")
    try same([String: String].self, "dollar")
  }

  @Test func whatDotenvCantHoldIsSaidOrLeftOut() throws {
    let tool = try Tool()
    _ = try tool.run("set", "GOOD", input: "1")
    _ = try tool.run("set", "BLOB", "--type", "data", input: "x")
    _ = try tool.run("set", "a name", input: "x")
    #expect(try tool.run("export", "--to", "out.env").code == 18)
    #expect(!FileManager.default.fileExists(atPath: tool.path("out.env")))
    let result = try tool.run("export", "--stdout", "--skip")
    #expect(result.text == "GOOD=1\n")
    #expect(result.errors.contains("BLOB, a name"))
  }
}
