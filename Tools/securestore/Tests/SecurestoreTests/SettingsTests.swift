import Foundation
import StorageCore
import TestSupport
import Testing
import VaultBackend

/// Settings that an operator types as text, and names that are mistyped.
struct SettingsTests {
  private enum Mode: String, Codable { case fast, slow }

  private func vault(_ tool: Tool) -> VaultStorage {
    VaultStorage(
      at: URL(fileURLWithPath: tool.vault),
      keySource: .file(URL(fileURLWithPath: tool.keyFile)))
  }

  @Test func textOfAFileIsReadByPropertiesOfEachType() throws {
    let tool = try Tool()
    let file = "http.port=9000\nhttp.timeout=1.5\ndebug=yes\nmode=slow\nurl=https://a.example/\n"
    let imported = try tool.run("import", "-", input: file)
    #expect(imported.code == 0)
    #expect(imported.errors.contains("imported 5 values: 5 as text\n"), "\(imported.errors)")
    let storage = vault(tool)
    @LiveVault(storage, "http.port") var port = 8080
    @Vault(storage, "http.timeout") var timeout: Double?
    @UnwrappedVault(storage, "debug") var isDebugging = false
    @UnwrappedCodableVault(storage, "mode") var mode = Mode.fast
    @Vault(storage, "url") var url: URL?
    #expect(port == 9000 && timeout == 1.5 && isDebugging && mode == .slow)
    #expect(url?.host() == "a.example")
    try $port.update { $0 += 1 }
    #expect(try tool.run("get", "http.port", "--type").text == "Int (8 bytes)\n")
    // From then on the tool writes the program's type.
    #expect(try tool.run("set", "http.port", input: "9100").code == 0)
    for _ in 0..<10_000 where port != 9100 { usleep(1_000) }
    #expect(port == 9100)
    #expect(try tool.run("set", "http.port", input: "ninety").code == 13)
  }

  @Test func theAnswerSaysHowTheValueIsStoredAndNotWhatItIs() throws {
    let tool = try Tool()
    let text = try tool.run("set", "port", input: "9000\n")
    #expect(text.errors.contains("stored port as text (4 bytes)\n"))
    #expect(!text.errors.contains("9000"))
    let number = try tool.run("set", "port", "--type", "int", input: "9000")
    #expect(number.errors.contains("stored port as Int (8 bytes)\n"))
    let json = try tool.run("set", "port", "--json", input: "9001").json()
    #expect(json["type"] as? String == "Int" && json["bytes"] as? Int == 8)
    let file = #"{"a": 1, "b": "x", "c": "y", "d": [1]}"#
    let imported = try tool.run("import", "-", "--format", "json", input: file)
    #expect(
      imported.errors.contains("imported 4 values: 1 as Int, 2 as text, 1 as Codable as JSON\n"))
    let again = try tool.run("import", "-", "--keep", "--json", input: "a=1\nz=1\n").json()
    #expect(again["types"] as? [String: String] == ["z": "String"])
    #expect(
      try tool.run("import", "-", "--keep", input: "a=1\n").errors.contains("imported 0 values,"))
  }

  @Test func theTypeIsShownOnRequestWithoutTheValue() throws {
    let tool = try Tool()
    _ = try tool.run("set", "secret", input: "hunter2")
    let type = try tool.run("get", "secret", "--type")
    #expect(type.code == 0 && type.text == "String (7 bytes)\n")
    let json = try tool.run("get", "secret", "--type", "--json")
    #expect(try json.json()["bytes"] as? Int == 7 && !json.text.contains("hunter2"))
    #expect(try tool.run("get", "absent", "--type").code == 1)
  }

  @Test(
    arguments: Depth.cases(
      [
        ("http.prot", "http.port"), ("HTTP.PORT", "http.port"), ("http_port", "http.port"),
        ("tokn", "token"),
      ], day: 1))
  func aMistypedNameIsAskedAbout(_ typed: String, _ meant: String) throws {
    let tool = try Tool()
    _ = try tool.run("import", "-", input: "http.port=9000\ntoken=x\nother=y\n")
    for arguments in [
      ["get", typed], ["get", typed, "--type"], ["remove", typed], ["rename", typed, "new"],
      ["export", "--stdout", typed], ["run", "--env", "X=" + typed, "--", "true"],
      ["set", typed, "--existing"],
    ] {
      let result = try tool.run(arguments, input: Data("1".utf8))
      #expect(result.code == 1, "\(arguments) \(result.errors)")
      #expect(result.errors.contains("did you mean \(meant)?"), "\(arguments) \(result.errors)")
      #expect(result.text == "" && !result.errors.contains("9000"))
    }
    #expect(try tool.run("list").lines == ["http.port", "other", "token"])
  }

  @Test func aNameThatIsLikeNoneIsAbsentWithoutAQuestion() throws {
    let tool = try Tool()
    _ = try tool.run("set", "http.port", input: "1")
    for name in ["completely.other", "h", String(repeating: "x", count: 500)] {
      let result = try tool.run("get", name)
      #expect(result.code == 1 && !result.errors.contains("did you mean"))
    }
  }

  @Test func anExistingNameIsSet() throws {
    let tool = try Tool()
    _ = try tool.run("set", "port", input: "1")
    #expect(try tool.run("set", "port", "--existing", input: "2").code == 0)
    #expect(try tool.run("get", "port").text == "2")
    #expect(try tool.run("set", "prt", "--existing", input: "3").code == 1)
    #expect(try tool.run("list").lines == ["port"])
  }

  @Test func aPatternFiltersTheList() throws {
    let tool = try Tool()
    _ = try tool.run("import", "-", input: "db.name=1\ndb.port=2\nhttp.port=3\n")
    #expect(try tool.run("list", "--match", "db.*").lines == ["db.name", "db.port"])
    #expect(try tool.run("list", "--match", "*.port").lines == ["db.port", "http.port"])
    #expect(try tool.run("list", "--match", "db").text == "")
    #expect(try tool.run("list", "--match", "d?.[n]ame", "--long").lines.count == 1)
    #expect(
      try tool.run("list", "--match", "db.*", "--json").json()["values"] as? [String] == [
        "db.name", "db.port",
      ])
  }

  // MARK: - Other names and random values

  @Test func aRenamedValueKeepsItsTypeAndBytes() throws {
    let tool = try Tool()
    let file = #"{"n": 7, "j": {"b": 1.50, "a": [null]}}"#
    _ = try tool.run("import", "-", "--format", "json", input: file)
    _ = try tool.run("set", "t", input: "x")
    for name in ["n", "j"] {
      let before = try tool.run("get", name, "--json").json()["type"] as? String
      #expect(try tool.run("rename", name, name + "2").code == 0)
      #expect(try tool.run("get", name + "2", "--json").json()["type"] as? String == before)
    }
    #expect(try tool.run("get", "j2").text == #"{"b":1.50,"a":[null]}"#)
    let taken = try tool.run("rename", "n2", "t")
    #expect(taken.code == 3 && taken.errors.contains("--replace"))
    #expect(try tool.run("rename", "n2", "n2").code == 64)
    #expect(try tool.run("rename", "n2", "x=secret").code == 64)
    #expect(try tool.run("get", "t").text == "x")
    #expect(try tool.run("rename", "n2", "t", "--replace").code == 0)
    #expect(try tool.run("get", "t").text == "7")
    #expect(try tool.run("list").lines == ["j2", "t"])
  }

  @Test func aGeneratedSecretIsRandomAndNotShown() throws {
    let tool = try Tool()
    let made = try tool.run("generate", "key")
    #expect(made.code == 0 && made.errors.contains("32 random bytes, stored as text (43 bytes)"))
    let first = try tool.run("get", "key").text
    #expect(first.utf8.count == 43 && !made.errors.contains(first) && made.text == "")
    #expect(!first.contains { "+/=".contains($0) })
    let again = try tool.run("generate", "key")
    #expect(again.code == 3 && again.errors.contains("--replace"))
    #expect(try tool.run("get", "key").text == first)
    #expect(try tool.run("generate", "key", "--replace", "--hex", "--bytes", "16").code == 0)
    let second = try tool.run("get", "key").text
    #expect(second.utf8.count == 32 && second.allSatisfy(\.isHexDigit))
    let data = try tool.run("generate", "raw", "--data", "--bytes", "64", "--json")
    #expect(try data.json()["type"] as? String == "Data")
    #expect(try tool.run("get", "raw").output.count == 64)
    for arguments in [["--bytes", "15"], ["--bytes", "4097"], ["--hex", "--data"]] {
      #expect(try tool.run(["generate", "other"] + arguments).code == 64)
    }
    #expect(try tool.run("generate", "name=value").code == 64)
    #expect(try tool.run("list").lines == ["key", "raw"])
  }
}
