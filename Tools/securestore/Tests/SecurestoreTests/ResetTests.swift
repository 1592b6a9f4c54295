import Foundation
import Testing

/// A store whose key is lost, or whose file is broken, is discarded when somebody says so.
struct ResetTests {
  private let manager = FileManager.default

  @Test func aVaultWhoseKeyIsLostStartsAnew() throws {
    let tool = try Tool()
    #expect(try tool.run("set", "A", input: "x").code == 0)
    try manager.removeItem(atPath: tool.keyFile)
    let lost = try tool.run("get", "A")
    #expect(lost.code == 10)
    #expect(lost.errors.contains("start anew with reset"), "\(lost.errors)")
    #expect(!lost.errors.contains("discard()"))
    let refused = try tool.shell(#"setsid -w "$0" reset </dev/null"#)
    #expect(refused.code == 64)
    #expect(refused.errors.contains("use --yes"))
    #expect(manager.fileExists(atPath: tool.vault))

    let done = try tool.run("reset", "--yes", "--json").json()
    #expect(done["path"] as? String == tool.vault)
    #expect(done["keyFile"] is NSNull)
    #expect(!manager.fileExists(atPath: tool.vault))
    #expect(try tool.run("init").code == 0)
    #expect(try tool.run("set", "A", input: "new").code == 0)
    #expect(try tool.run("get", "A").text == "new")
  }

  @Test func theKeyStays() throws {
    let tool = try Tool()
    let key = try Data(contentsOf: URL(fileURLWithPath: tool.keyFile))
    let done = try tool.run("reset", "--yes")
    #expect(done.code == 0, "\(done.errors)")
    #expect(done.errors.contains("the key file \(tool.keyFile) stays"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: tool.keyFile)) == key)
  }

  @Test func aBrokenFileOfTheApplicationGoes() throws {
    let tool = try Tool()
    try Data("garbage".utf8).write(to: URL(fileURLWithPath: tool.vault))
    #expect(try tool.run("list").code == 12)
    #expect(try tool.run("reset", "--yes").code == 0)
    #expect(try tool.run("init").code == 0)
  }

  @Test func aFileThatIsNoVaultIsNotTouched() throws {
    let tool = try Tool()
    try tool.write("precious", to: "notes.txt")
    for name in ["notes.txt", ".local/share/com.example.tool/master.key", ".local"] {
      let refused = try tool.run("reset", "--yes", "--vault", name)
      #expect(refused.code == 64, "\(refused.errors)")
      #expect(refused.errors.contains("not a vault"))
    }
    #expect(try tool.run("reset", "--yes", "--vault", "nothing.vault").code == 69)
    #expect(try tool.run("get", "A").code == 1)
  }

  @Test func aSealedFolderStartsAnew() throws {
    let tool = try Tool(hasVault: false)
    #expect(try tool.run("files", "init").code == 0)
    try tool.write(String(repeating: "x", count: 100_000), to: "large")
    #expect(try tool.run("files", "put", "large", "large").code == 0)
    let index = tool.data + "/files/index.vault"
    let refused = try tool.run("reset", "--yes", "--vault", index)
    #expect(refused.code == 64 && refused.errors.contains("files reset"), "\(refused.errors)")
    try manager.removeItem(atPath: tool.keyFile)
    #expect(try tool.run("files", "list").code == 10)
    #expect(try tool.run("files", "reset", "--yes").code == 0)
    #expect(try tool.run("files", "init").code == 0)
    #expect(try tool.run("files", "list").lines == [])
  }

  @Test func aSuiteInThePlaceOfAVaultIsCalledOne() throws {
    let tool = try Tool()
    try tool.write("bplist00", to: "com.example.tool.secure.plist")
    let refused = try tool.run(
      "list", "--vault", "com.example.tool.secure.plist", "--key-file", tool.keyFile)
    #expect(refused.code == 64)
    #expect(refused.errors.contains("it is a suite"), "\(refused.errors)")
  }
}
