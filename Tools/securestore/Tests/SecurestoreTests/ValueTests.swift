import Foundation
import StorageCore
import Testing
import VaultBackend

/// What goes in by `set` and comes out by `get`.
struct ValueTests {
  @Test(arguments: [
    "hunter2", "two\nlines", "  spaces  ", "$(x) `y` \"z\" 'w' \\", "pässwörd ✓",
  ])
  func textComesBackAsItWas(_ value: String) throws {
    let tool = try Tool()
    #expect(try tool.run("set", "NAME", input: value).code == 0)
    let got = try tool.run("get", "NAME")
    #expect(got.code == 0)
    #expect(got.text == value)
    #expect(got.errors == "")
  }

  @Test func nothingIsNoValueUnlessItIsToBeOne() throws {
    let tool = try Tool()
    _ = try tool.run("set", "S", input: "hunter2")
    let failed = try tool.shell(#"false | "$0" set S"#)
    #expect(failed.code == 65)
    #expect(failed.errors.contains("--allow-empty"))
    #expect(try tool.run("set", "S", input: "\n").code == 65)
    #expect(try tool.run("set", "S", "--type", "data").code == 65)
    #expect(try tool.run("get", "S").text == "hunter2")
    #expect(try tool.run("set", "S", "--allow-empty").code == 0)
    let got = try tool.run("get", "S")
    #expect(got.code == 0)
    #expect(got.text == "")
  }

  @Test func aNameThatIsNotUTF8IsRefused() throws {
    let tool = try Tool()
    let result = try tool.shell(#"printf x | "$0" set $'\xff'"#)
    #expect(result.code == 64)
    #expect(result.errors.contains("UTF-8"))
    #expect(try tool.run("list").text == "")
  }

  @Test(arguments: [
    "12345678901234567890123", "[1,1e400]", #"{"n":0.12345678901234567890}"#, "-0",
    #"{"b":99999999999999999.99,"a":[-170141183460469231731687303715884105728]}"#,
  ])
  func numbersInJSONKeepEveryDigit(_ text: String) throws {
    let tool = try Tool()
    #expect(try tool.run("set", "V", "--type", "json", input: text).code == 0)
    #expect(try tool.run("get", "V").text == text)
    let exported = try tool.run("export", "--stdout", "--format", "json")
    #expect(exported.text.contains(text))
    let imported = try tool.run(
      ["import", "-", "--format", "json", "--overwrite"], input: exported.output)
    #expect(imported.code == 0, "\(imported.errors)")
    #expect(try tool.run("get", "V").text == text)
  }

  @Test(arguments: ["12345678901234567890123", "1e400", "0.12345678901234567890"])
  func aNumberThatADoubleWouldChangeIsRefusedByName(_ text: String) throws {
    let tool = try Tool()
    // YAML 1.1 has no number without a point but with an exponent.
    for format in text.contains("e") ? ["json"] : ["json", "yaml"] {
      let result = try tool.run(
        ["import", "-", "--format", format], input: Data("{\"amount\": \(text)}".utf8))
      #expect(result.code == 65)
      #expect(result.errors.contains("amount") && result.errors.contains("Decimal"))
      #expect(!result.errors.contains(text))
    }
    #expect(try tool.run("list").text == "")
  }

  @Test func aNumberOfAFileBecomesTheDecimalThatItIsSaidToBe() throws {
    let tool = try Tool()
    let file = #"{"a":99999999999999999.99,"b":{"$type":"Decimal","$value":1.0e-30}}"#
    let result = try tool.run(
      ["import", "-", "--format", "json", "--type", "a=decimal"], input: Data(file.utf8))
    #expect(result.code == 0, "\(result.errors)")
    #expect(try tool.run("get", "a").text == "99999999999999999.99")
    #expect(try tool.run("get", "b").text == "0." + String(repeating: "0", count: 29) + "1")
  }

  @Test func aNumberThatIsTooLargeIsNoInfinity() throws {
    let tool = try Tool()
    #expect(try tool.run("set", "V", "--type", "double", input: "1e400").code == 65)
    #expect(try tool.run("set", "V", "--type", "double", input: "inf").code == 0)
  }

  @Test(arguments: [
    ("double", "1e-400"), ("double", "9007199254740993"), ("Float", "16777217"),
    ("Float", "1e39"), ("Float", "1e-60"), ("double", "0x1p3"), ("double", "1 2"),
  ])
  func aNumberThatTheTypeWouldChangeIsRefused(_ type: String, _ text: String) throws {
    let tool = try Tool()
    let set = try tool.run("set", "V", "--type", type, input: text)
    #expect(set.code == 65 && set.errors.contains("key \"V\""), "\(set.errors)")
    let file = Data("{\"V\": \"\(text)\"}".utf8)
    let imported = try tool.run(
      ["import", "-", "--format", "json", "--type", "V=\(type)"], input: file)
    #expect(imported.code == 65 && imported.errors.contains("key \"V\""), "\(imported.errors)")
    #expect(try tool.run("list").text == "")
  }

  @Test(arguments: [
    ("double", "0.12345678901234567890", "0.12345678901234568"), ("double", "0e-400", "0.0"),
    ("Float", "16777216", "16777216.0"), ("Float", "0.1", "0.1"), ("double", "-1e3", "-1000.0"),
  ])
  func aFractionBecomesTheNearestValue(_ type: String, _ text: String, _ read: String) throws {
    let tool = try Tool()
    let set = try tool.run("set", "V", "--type", type, input: text)
    #expect(set.code == 0, "\(set.errors)")
    #expect(try tool.run("get", "V").text == read)
  }

  @Test func boolsAreWrittenAsTheManualSays() throws {
    let tool = try Tool()
    for (word, value) in [("yes", "true"), ("On", "true"), ("0", "false"), ("no", "false")] {
      #expect(try tool.run("set", "B", "--type", "bool", input: word).code == 0)
      #expect(try tool.run("get", "B").text == value)
    }
  }

  @Test func oneLineBreakAtTheEndIsLeftOutUnlessAskedFor() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x\n\n")
    _ = try tool.run("set", "B", "--raw", input: "x\n")
    #expect(try tool.run("get", "A").text == "x\n")
    #expect(try tool.run("get", "B").text == "x\n")
  }

  @Test func dataComesBackByteForByte() throws {
    let tool = try Tool()
    let bytes = Data((0...255).map { UInt8($0) } + [10])
    #expect(try tool.run(["set", "BLOB", "--type", "data"], input: bytes).code == 0)
    #expect(try tool.run("get", "BLOB").output == bytes)
    let json = try tool.run("get", "BLOB", "--json").json()
    #expect(json["type"] as? String == "Data")
    #expect(json["value"] as? String == bytes.base64EncodedString())
  }

  @Test func aLargeValueComesBack() throws {
    let tool = try Tool()
    let text = String(repeating: "0123456789abcdef", count: 1 << 16)
    #expect(try tool.run("set", "BIG", input: text).code == 0)
    #expect(try tool.run("get", "BIG").text == text)
  }

  @Test(arguments: [
    ("int", "-42", "Int"), ("double", "2.5", "Double"), ("bool", "true", "Bool"),
    ("json", #"{"a":[1,"x",null,true]}"#, "Codable as JSON"),
  ])
  func aTypeIsKept(_ type: String, _ text: String, _ stored: String) throws {
    let tool = try Tool()
    #expect(try tool.run("set", "V", "--type", type, input: text + "\n").code == 0)
    #expect(try tool.run("get", "V").text == text)
    #expect(try tool.run("get", "V", "--json").json()["type"] as? String == stored)
    #expect(try tool.run("list", "--long").text.contains(stored))
  }

  @Test(arguments: ["int", "double", "bool", "json"])
  func whatIsNotOfTheTypeIsRefusedAndNotQuoted(_ type: String) throws {
    let tool = try Tool()
    let result = try tool.run("set", "V", "--type", type, input: "hunter2-secret")
    #expect(result.code == 65)
    #expect(!(result.errors + result.text).contains("hunter2"))
    #expect(try tool.run("get", "V").code == 1)
  }

  @Test func anApplicationReadsWhatTheToolStoredAndTheOtherWayRound() throws {
    struct User: Codable, Equatable {
      var name: String
      var age: Int?
    }
    let tool = try Tool()
    _ = try tool.run("set", "user", "--type", "json", input: #"{"name":"Ada","age":36}"#)
    _ = try tool.run("set", "token", input: "abc")
    let storage = VaultStorage(
      at: URL(fileURLWithPath: tool.vault),
      keySource: .file(URL(fileURLWithPath: tool.keyFile)))
    #expect(try storage.load(User.self, forKey: "user") == User(name: "Ada", age: 36))
    #expect(try storage.load(String.self, forKey: "token") == "abc")
    try storage.save(User(name: "Bob"), forKey: "user")
    try storage.save(["a", "b"], forKey: "list")
    #expect(try tool.run("get", "user").text == #"{"name":"Bob"}"#)
    #expect(try tool.run("get", "list").text == #"["a","b"]"#)
  }

  @Test func whatIsNotThereIsOneAndSaysSo() throws {
    let tool = try Tool()
    let got = try tool.run("get", "NOPE")
    #expect(got.code == 1)
    #expect(got.text == "")
    #expect(got.errors.hasPrefix("securestore: absent: key \"NOPE\": "))
    #expect(got.errors.split(separator: "\n").count == 1)
    #expect(try tool.run("get", "NOPE", "--json").error()["exit"] as? Int == 1)
    #expect(try tool.run("remove", "NOPE").code == 1)
    #expect(try tool.run("remove", "NOPE", "--force").code == 0)
  }

  @Test(arguments: [(1000, "1000 B"), (1536, "1.5 KiB"), (3_000_000, "2.8 MiB")])
  func aSizeIsShownAsItIs(_ count: Int, _ shown: String) throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: String(repeating: "x", count: count))
    #expect(try tool.run("list", "--long").text == "A  String  \(shown)\n")
  }

  @Test func namesAreListedInOrder() throws {
    let tool = try Tool()
    for name in ["b", "a", "Z", "é"] { _ = try tool.run("set", name, input: "x") }
    #expect(try tool.run("list").lines == ["Z", "a", "b", "é"])
    #expect(try tool.run("list", "--null").text == "Z\0a\0b\0é\0")
    #expect(try tool.run("list", "--json").json()["values"] as? [String] == ["Z", "a", "b", "é"])
  }

  @Test func removingIsAllOrNothing() throws {
    let tool = try Tool()
    for name in ["A", "B"] { _ = try tool.run("set", name, input: "x") }
    #expect(try tool.run("remove", "A", "NOPE").code == 1)
    #expect(try tool.run("list").lines == ["A", "B"])
    #expect(
      try tool.run("remove", "A", "B", "--json").json()["removed"] as? [String] == ["A", "B"])
    #expect(try tool.run("list").text == "")
  }

  @Test func aFullDiskIsNoSuccess() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    let result = try tool.shell(#""$0" get A >/dev/full"#)
    #expect(result.code == 16)
    #expect(result.errors.contains("No space left"))
  }
}
