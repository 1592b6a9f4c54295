import Foundation
import Testing

/// What opens a vault, and what does not.
struct KeyTests {
  @Test func aVaultAndItsKeyAreForTheirOwnerAlone() throws {
    let tool = try Tool()
    for path in [tool.vault, tool.keyFile] {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
    #expect(try tool.run("slots").lines == ["1  file master.key"])
  }

  @Test func aVaultIsMadeOnceAndByInitAlone() throws {
    let tool = try Tool(hasVault: false)
    for arguments in [
      ["set", "A"], ["get", "A"], ["list"], ["import", "-"], ["rotate"], ["slots"],
    ] {
      #expect(try tool.run(arguments).code == 69)
    }
    #expect(!FileManager.default.fileExists(atPath: tool.vault))
    #expect(!FileManager.default.fileExists(atPath: tool.keyFile))
    #expect(try tool.run("init").code == 0)
    #expect(try tool.run("init").code == 3)
  }

  @Test func ofManyThatMakeAVaultOneDoes() throws {
    let tool = try Tool(hasVault: false)
    for round in 0..<5 {
      let result = try tool.shell(
        """
        for number in 1 2 3 4 5 6; do
          "$0" init --vault new/\(round).vault --key-file new/the.key --wait 300 2>/dev/null &
          children="$children $!"
        done
        for child in $children; do wait $child; echo $?; done
        """)
      #expect(result.lines.sorted() == ["0", "3", "3", "3", "3", "3"])
    }
  }

  @Test func whichVaultIsNeverGuessed() throws {
    let tool = try Tool()
    tool.environment["SECURESTORE_APP"] = nil
    #expect(try tool.run("list").code == 64)
    // A path says nothing of keys, and the environment does not lend one to it.
    #expect(try tool.run("list", "--vault", tool.vault).code == 64)
    tool.environment["SECURESTORE_APP"] = "com.example.tool"
    #expect(try tool.run("list", "--vault", tool.vault).code == 64)
    #expect(try tool.run("list", "--vault", tool.vault, "--app", "com.example.tool").code == 0)
    tool.environment["SECURESTORE_APP"] = nil
    tool.environment["SECURESTORE_VAULT"] = tool.vault
    tool.environment["SECURESTORE_KEY_FILE"] = tool.keyFile
    #expect(try tool.run("list").code == 0)
    #expect(try tool.run("list", "--app", "com.example.other").code == 69)
    #expect(try tool.run("list", "--app", "../other").code == 64)
  }

  @Test func twoKeysAreNoChoice() throws {
    let tool = try Tool()
    let result = try tool.run("list", "--key-file", tool.keyFile, "--key-env", "X")
    #expect(result.code == 64)
  }

  @Test func aPassphraseComesFromAFileOrADescriptor() throws {
    let tool = try Tool(hasVault: false)
    try tool.write("correct horse\nignored", to: "pass")
    #expect(try tool.run("init", "--passphrase-file", "pass").code == 0)
    #expect(
      try tool.run("set", "A", "--passphrase-fd", "0", input: "correct horse\nvalue").code == 0)
    #expect(try tool.run("get", "A", "--passphrase-file", "pass").text == "value")
    #expect(try tool.run("get", "A", "--passphrase-fd", "0", input: "wrong\n").code == 11)

    let unsaid = try tool.run("get", "A")
    #expect(unsaid.code == 10)
    #expect(unsaid.errors.contains("--passphrase"))
    let asked = try tool.shell(#"setsid -w "$0" get A --passphrase </dev/null"#)
    #expect(asked.code == 64)
    #expect(asked.errors.contains("no terminal"))

    try FileManager.default.setAttributes(
      [.posixPermissions: 0o644], ofItemAtPath: tool.path("pass"))
    #expect(try tool.run("get", "A", "--passphrase-file", "pass").code == 77)
  }

  @Test func aPassphraseIsChangedAndTheOldOneOpensNoMore() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    try tool.write("the first of two", to: "first")
    try tool.write("the second of two", to: "second")
    #expect(try tool.run("passphrase", "--yes", "--new-passphrase-file", "first").code == 0)
    #expect(try tool.run("get", "A").code == 10)
    let changed = try tool.run(
      "passphrase", "--yes", "--passphrase-file", "first", "--new-passphrase-file", "second")
    #expect(changed.code == 0)
    #expect(try tool.run("get", "A", "--passphrase-file", "first").code == 11)
    #expect(try tool.run("get", "A", "--passphrase-file", "second").text == "x")
  }

  @Test func slotsAreAddedAndRemoved() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    #expect(try tool.run("slots", "add", "--new-key-file", "spare.key").code == 0)
    #expect(try tool.run("get", "A", "--key-file", "spare.key").text == "x")
    #expect(try tool.run("slots", "remove", "1", "--yes").code == 0)
    #expect(try tool.run("get", "A").code == 10)
    #expect(try tool.run("get", "A", "--key-file", "spare.key").text == "x")
    #expect(try tool.run("slots", "remove", "2", "--key-file", "spare.key").code == 64)
    let slots = try tool.run("slots", "--json").json()["slots"] as? [[String: Any]]
    #expect(slots?.first?["identifier"] as? String == "spare.key")
  }

  @Test func aRecoveryKeyOpensTheVaultWhenTheKeyFileIsGone() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    let recovery = try tool.run("recovery")
    #expect(recovery.code == 0)
    let text = try #require(recovery.lines.first)
    try FileManager.default.removeItem(atPath: tool.keyFile)
    #expect(try tool.run("get", "A").code == 10)
    #expect(try tool.run("get", "A", "--recovery-fd", "0", input: text + "\n").text == "x")
    let first = text.first == "0" ? "1" : "0"
    let mistyped = try tool.run("get", "A", "--recovery-fd", "0", input: first + text.dropFirst())
    #expect(mistyped.code == 11)
    #expect(!mistyped.errors.contains(text.suffix(8)))
  }

  @Test func aNewKeyFileTakesThePlaceOfALostOne() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    let text = try #require(try tool.run("recovery").lines.first)
    try FileManager.default.removeItem(atPath: tool.keyFile)
    let arguments = [
      "slots", "change", "--yes", "--recovery-fd", "0", "--new-key-file", tool.keyFile,
    ]
    let input = Data((text + "\n").utf8)
    let refused = try tool.run(arguments, input: input)
    #expect(refused.code == 10)
    #expect(refused.errors.contains("remove \(tool.keyFile).made and run this again"))
    #expect(!FileManager.default.fileExists(atPath: tool.keyFile))
    try FileManager.default.removeItem(atPath: tool.keyFile + ".made")
    let changed = try tool.run(arguments, input: input)
    #expect(changed.code == 0)
    #expect(changed.text == "")
    #expect(changed.errors.contains("opens with"))
    #expect(changed.errors.contains("file master.key"))
    #expect(try tool.run("get", "A").text == "x")
    #expect(try tool.run("rotate", "--root", "--names", "--same-key", "--yes").code == 0)
    #expect(try tool.run("get", "A").text == "x")
  }

  @Test func anEnvironmentVariableAndACredentialHoldKeys() throws {
    let tool = try Tool(hasVault: false)
    let key = Data((0..<32).map { UInt8($0) }).base64EncodedString()
    tool.environment["TOOL_KEY"] = key
    #expect(try tool.run("init", "--key-env", "TOOL_KEY").code == 0)
    #expect(try tool.run("set", "A", "--key-env", "TOOL_KEY", input: "x").code == 0)
    #expect(try tool.run("get", "A").errors.contains("--key-env TOOL_KEY"))

    tool.environment["CREDENTIALS_DIRECTORY"] = tool.folder.path
    try tool.write(key, to: "tool-key")
    let added = try tool.run(
      "slots", "add", "--key-env", "TOOL_KEY", "--new-credential", "tool-key")
    #expect(added.code == 0, "\(added.errors)")
    #expect(try tool.run("get", "A", "--credential", "tool-key").text == "x")
  }

  @Test func rotatingKeepsEveryValue() throws {
    let tool = try Tool()
    for name in ["A", "B"] { _ = try tool.run("set", name, input: name) }
    #expect(try tool.run("rotate", "--json").json()["reencrypted"] as? Int == 2)
    #expect(try tool.run("rotate", "--root").code == 64)
    #expect(try tool.run("rotate", "--new-key-file", "new.key").code == 64)
    let rotated = try tool.run("rotate", "--root", "--yes", "--names", "--new-key-file", "new.key")
    #expect(rotated.code == 0, "\(rotated.errors)")
    #expect(try tool.run("get", "A").code == 10)
    #expect(try tool.run("get", "A", "--key-file", "new.key").text == "A")
    #expect(try tool.run("rotate", "--resume", "--key-file", "new.key").code == 0)
    #expect(try tool.run("verify", "--key-file", "new.key").code == 0)
  }

  @Test func aKeyFileOfAnyNameOpensTheVaultThatWasMadeWithIt() throws {
    let tool = try Tool(hasVault: false)
    try FileManager.default.createDirectory(
      atPath: tool.path("d"), withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    // A slash and what combines with it are one character, but two of the path's bytes and more.
    for (number, name) in ["\u{301}key", "\u{200D}key", "e\u{301}", "plain key"].enumerated() {
      let arguments = ["--vault", "\(number).vault", "--key-file", "d/" + name]
      #expect(try tool.run(["init"] + arguments).code == 0)
      let opened = try tool.run(["list"] + arguments)
      #expect(opened.code == 0, "\(opened.errors)")
    }
  }
}
