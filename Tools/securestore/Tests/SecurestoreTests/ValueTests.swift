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
}
