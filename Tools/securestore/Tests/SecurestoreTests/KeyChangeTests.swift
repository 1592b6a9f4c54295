import Foundation
import Testing

/// What a change of the keys says and refuses.
struct KeyChangeTests {
  @Test func aPassphraseThatOpensTheVaultIsNoNewOne() throws {
    let tool = try Tool(hasVault: false)
    try tool.write("correct horse\n", to: "pass")
    #expect(try tool.run("init", "--passphrase-file", "pass").code == 0)
    let before = try Data(contentsOf: URL(fileURLWithPath: tool.vault))
    let own = ["--passphrase-file", "pass"]
    for arguments in [
      ["passphrase", "--new-passphrase-file", "pass"],
      ["rotate", "--root", "--new-passphrase-file", "pass"],
      ["slots", "add", "--new-passphrase-file", "pass"],
    ] {
      let refused = try tool.run(arguments + own)
      #expect(refused.code == 64)
      let place = arguments[0] == "slots" ? "store" : "vault"
      #expect(refused.errors.contains("opens the \(place) already"))
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: tool.vault)) == before)
    try tool.write("battery staple\n", to: "other")
    #expect(try tool.run(["passphrase", "--new-passphrase-file", "other"] + own).code == 0)
  }

  @Test func aCopyOfALeakedKeyDoesNotReplaceIt() throws {
    let tool = try Tool()
    try FileManager.default.copyItem(atPath: tool.keyFile, toPath: tool.path("copy.key"))
    let refused = try tool.run("rotate", "--root", "--new-key-file", "copy.key")
    #expect(refused.code == 64)
    #expect(refused.errors.contains("the new key opens the store already, by slot 1"))
    #expect(try tool.run("slots").lines == ["1  file master.key"])
  }

  @Test func whatOpensTheVaultNoMoreIsNamed() throws {
    let tool = try Tool()
    try tool.write("correct horse\n", to: "pass")
    let recovery = try tool.run("recovery", "--json").json()
    #expect((recovery["slot"] as? [String: Any])?["id"] as? Int == 2)
    #expect(try tool.run("recovery").errors.contains("a recovery key, slot 3, shown this once"))

    let changed = try tool.run("passphrase", "--new-passphrase-file", "pass")
    #expect(changed.errors.contains("opens the vault no more: slot 1, file master.key\n"))
    let rotated = try tool.run(
      "rotate", "--root", "--same-key", "--passphrase-file", "pass", "--json")
    let ended = try #require(try rotated.json()["ended"] as? [[String: Any]])
    #expect(ended.map { $0["kind"] as? String } == ["recovery key", "recovery key"])
    #expect(try tool.run("recovery", "--passphrase-file", "pass").code == 0)
    let said = try tool.run("rotate", "--root", "--same-key", "--passphrase-file", "pass")
    #expect(said.errors.contains("The command recovery makes another recovery key"))
  }

  @Test func aKeyFileThatIsOnlyReadGetsNoMarker() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    let marker = tool.keyFile + ".made"
    try FileManager.default.removeItem(atPath: marker)
    let folder = tool.path("wrong")
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let wrong = try tool.write(
      Data(repeating: 1, count: 32).base64EncodedString(), to: "wrong/master.key")
    for arguments in [["get", "A"], ["list"], ["verify"], ["doctor"], ["export", "--stdout"]] {
      #expect(try tool.run(arguments).code == 0)
      let code = try tool.run(arguments + ["--key-file", wrong]).code
      #expect(code == (arguments == ["doctor"] ? 2 : 11))
    }
    #expect(try tool.run("set", "A", "--key-file", wrong, input: "y").code == 11)
    #expect(!FileManager.default.fileExists(atPath: marker))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["master.key"])
    #expect(try tool.run("set", "A", input: "y").code == 0)
    #expect(FileManager.default.fileExists(atPath: marker))
  }

  @Test func aKeyFileThatWasMadeIsNamed() throws {
    let tool = try Tool(hasVault: false)
    let made = try tool.run("init")
    #expect(made.errors.contains("made the key file \(tool.keyFile); without it"))
    let named = ["init", "--vault", "b.vault", "--key-file", "b.key", "--json"]
    let answer = try tool.run(named).json()
    #expect(answer["keyFile"] as? String == tool.path("b.key"))
    #expect(answer["keyFileIsNew"] as? Bool == true)
    let again = try tool.run("init", "--vault", "c.vault", "--key-file", "b.key", "--json").json()
    #expect(again["keyFileIsNew"] as? Bool == false)
    try tool.write("correct horse\n", to: "pass")
    let typed = try tool.run("init", "--vault", "d.vault", "--passphrase-file", "pass", "--json")
    #expect(try typed.json()["keyFile"] is NSNull)

    let added = try tool.run("slots", "add", "--new-key-file", "keys/new.key")
    #expect(added.errors.contains("\(tool.path("keys")) was not there, and was made"))
    #expect(added.errors.contains("made the key file \(tool.path("keys/new.key"))"))
  }

  @Test func aKeyFileThatIsLeftByAFailedInitIsNamed() throws {
    let tool = try Tool(hasVault: false)
    try FileManager.default.createDirectory(
      atPath: tool.path("open"), withIntermediateDirectories: false)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o777], ofItemAtPath: tool.path("open"))
    let failed = try tool.run("init", "--vault", "open/a.vault", "--key-file", "a.key")
    #expect(failed.code == 77)
    let isThere = FileManager.default.fileExists(atPath: tool.path("a.key"))
    #expect(failed.errors.contains("a.key was made before this failed") == isThere)
  }

  @Test(arguments: ["\n", "\r\n"])
  func aLineOfAPassphraseMayEndAsOnWindows(_ lineBreak: String) throws {
    let tool = try Tool(hasVault: false)
    try tool.write("correct horse" + lineBreak + "ignored", to: "pass")
    try tool.write(Data(repeating: 1, count: 32).base64EncodedString() + lineBreak, to: "a.key")
    #expect(try tool.run("init", "--passphrase-file", "pass").code == 0)
    let added = try tool.run(
      "slots", "add", "--new-key-file", "a.key", "--passphrase-fd", "0", input: "correct horse")
    #expect(added.code == 0 && !added.errors.contains("is taken as a passphrase"))
    let set = try tool.run(
      "set", "A", "--passphrase-fd", "0", input: "correct horse\(lineBreak)value\(lineBreak)")
    #expect(set.code == 0)
    #expect(try tool.run("get", "A", "--key-file", "a.key").text == "value")
  }
}
