import Foundation
import StorageCore
import TestSupport
import Testing
import VaultBackend

/// What a change of the keys says and refuses.
struct KeyChangeTests {
  @Test func aPassphraseThatOpensTheVaultIsNoNewOne() throws {
    let tool = try Tool(hasVault: false)
    try tool.write("correct horse\n", to: "pass")
    #expect(try tool.run("init", "--passphrase-file", "pass").code == 0)
    let before = try Data(contentsOf: URL(fileURLWithPath: tool.vault))
    let own = ["--passphrase-file", "pass"]
    for arguments in [
      ["passphrase", "--yes", "--new-passphrase-file", "pass"],
      ["rotate", "--root", "--yes", "--new-passphrase-file", "pass"],
      ["slots", "add", "--new-passphrase-file", "pass"],
    ] {
      let refused = try tool.run(arguments + own)
      #expect(refused.code == 64)
      let place = arguments[0] == "slots" ? "store" : "vault"
      #expect(refused.errors.contains("already opens the \(place)"))
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: tool.vault)) == before)
    try tool.write("battery staple\n", to: "other")
    #expect(
      try tool.run(["passphrase", "--yes", "--new-passphrase-file", "other"] + own).code == 0)
  }

  @Test func aCopyOfALeakedKeyDoesNotReplaceIt() throws {
    let tool = try Tool()
    try FileManager.default.copyItem(atPath: tool.keyFile, toPath: tool.path("copy.key"))
    let refused = try tool.run("rotate", "--root", "--yes", "--new-key-file", "copy.key")
    #expect(refused.code == 64)
    #expect(refused.errors.contains("the new key already opens the store, by slot 1"))
    #expect(try tool.run("slots").lines == ["1  file master.key"])
  }

  @Test func whatOpensTheVaultNoMoreIsNamed() throws {
    let tool = try Tool()
    try tool.write("correct horse\n", to: "pass")
    let recovery = try tool.run("recovery", "--json").json()
    #expect((recovery["slot"] as? [String: Any])?["id"] as? Int == 2)
    #expect(try tool.run("recovery").errors.contains("a recovery key, slot 3, shown only once"))

    let changed = try tool.run("passphrase", "--yes", "--new-passphrase-file", "pass")
    #expect(changed.errors.contains("no longer opens the vault: slot 1, file master.key\n"))
    let rotated = try tool.run(
      "rotate", "--root", "--yes", "--same-key", "--passphrase-file", "pass", "--json")
    let ended = try #require(try rotated.json()["ended"] as? [[String: Any]])
    #expect(ended.map { $0["kind"] as? String } == ["recovery key", "recovery key"])
    #expect(try tool.run("recovery", "--passphrase-file", "pass").code == 0)
    let said = try tool.run("rotate", "--root", "--yes", "--same-key", "--passphrase-file", "pass")
    #expect(said.errors.contains("Run recovery to create another recovery key"))
  }

  @Test(
    arguments: Depth.cases(
      [
        ["slots", "change", "--yes", "--new-passphrase-file", "b"],
        ["rotate", "--root", "--yes", "--same-key"],
      ], day: 1))
  func anotherKeyOfTheSameKindIsNamedToo(_ change: [String]) throws {
    let tool = try Tool()
    for name in ["a", "b"] {
      try tool.write("passphrase \(name)\n", to: name)
      #expect(try tool.run("slots", "add", "--new-passphrase-file", name).code == 0)
    }
    #expect(try tool.run("slots", "add", "--new-key-file", "other/master.key").code == 0)
    let changed = try tool.run(change + ["--passphrase-file", "b"])
    #expect(
      changed.errors.contains(
        "no longer opens the vault: slot 1, file master.key; slot 2, passphrase; slot 4, file master.key\n"
      ),
      "\(changed.errors)")
    #expect(try tool.run("slots").lines == ["5  passphrase"])
    #expect(try tool.run("list", "--passphrase-file", "b").code == 0)
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
    #expect(
      made.errors.contains(
        "created the key file \(tool.keyFile), which opens the values"))
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
    #expect(added.errors.contains("\(tool.path("keys")) did not exist, and was created"))
    #expect(added.errors.contains("created the key file \(tool.path("keys/new.key"))"))
    for (command, name) in [("add", "more"), ("change", "last")] {
      let consent = command == "change" ? ["--yes"] : []
      let json = try tool.run(
        ["slots", command, "--new-key-file", "\(name)/a.key", "--json"] + consent
      ).json()
      #expect(json["keyFile"] as? String == tool.path("\(name)/a.key"))
      #expect(json["keyFileIsNew"] as? Bool == true)
      #expect(json["folders"] as? [String] == [tool.path(name)])
    }
  }

  /// There is no keyring here, so it is the key file.
  @Test func aKeyFileThatTheDesktopsKeysComeToIsNamed() throws {
    let tool = try Tool(hasVault: false)
    let made = try tool.run("init", "--key", "desktop", "--json").json()
    #expect(made["keyFile"] as? String == tool.keyFile)
    #expect(made["keyFileIsNew"] as? Bool == true)
    try tool.write("correct horse\n", to: "pass")
    #expect(try tool.run("init", "--app", "b", "--passphrase-file", "pass").code == 0)
    let rotated = try tool.run(
      "rotate", "--root", "--yes", "--new-key", "desktop", "--app", "b", "--passphrase-file", "pass"
    )
    let path = tool.path(".local/share/b/master.key")
    #expect(rotated.errors.contains("created the key file \(path)"), "\(rotated.errors)")
  }

  @Test func aRecoveryKeyThatNobodySawOpensNothing() throws {
    let tool = try Tool()
    for command in ["recovery", "recovery --json"] {
      let failed = try tool.shell(#""$0" \#(command) >/dev/full"#)
      #expect(failed.code == 16)
      #expect(try tool.run("slots").lines == ["1  file master.key"])
    }
    let unread = try tool.shell(#"exec {pipe}> >(exec true); sleep 1; "$0" recovery >&$pipe"#)
    #expect(unread.code == 74)
    #expect(try tool.run("slots").lines == ["1  file master.key"])
  }

  /// strace(1) makes syncs of the log fail from the one on that follows those of the new slot.
  @Test func theSlotOfARecoveryKeyThatNobodySawIsToldWhereItStays() throws {
    let tool = try Tool()
    let failed = try tool.shell(
      "strace -f -qq -o /dev/null -P '\(tool.vault)-wal' -e trace=fdatasync "
        + "-e inject=fdatasync:error=EIO:when=3+ \"$0\" recovery >/dev/full")
    #expect(failed.code == 16, "the answer's own error: \(failed.errors)")
    #expect(
      failed.errors.contains(
        "warning: unsound: the key could not be shown, and its slot 2 could not be removed"),
      "\(failed.errors)")
  }

  @Test func theRecoveryKeyOfAnotherVaultIsCalledThat() throws {
    let tool = try Tool()
    let other = try Tool()
    let text = try #require(try other.run("recovery").lines.first)
    for _ in 0..<2 { _ = try tool.run("recovery") }
    let refused = try tool.run("list", "--recovery-fd", "0", input: text + "\n")
    #expect(refused.code == 11)
    #expect(
      refused.errors.contains(
        "The recovery key may belong to another store, or its slot was removed. Open the store with"
      ))
    let option = try tool.run("list", "--passphrase-fd", "0", input: "x\n")
    #expect(option.errors.contains("give --key-file PATH/master.key or --recovery\n"))
  }

  @Test func aRotationThatIsNotFinishedIsTold() throws {
    let tool = try Tool()
    let storage = VaultStorage(
      at: URL(fileURLWithPath: tool.vault), keySource: .file(URL(fileURLWithPath: tool.keyFile)))
    try storage.saveAll(
      Dictionary(uniqueKeysWithValues: (0..<100).map { ("NAME\($0)", "value") }))
    var found: [Tool.Result] = []
    var reports: [[String: Any]] = []
    _ = try storage.keyAdministration.rotateDataKey { done, total in
      guard done < total else { return }
      do {
        found.append(try tool.run("verify"))
        reports.append(try tool.run("verify", "--json").json())
      } catch { Issue.record(error) }
    }
    #expect(found.map(\.code) == [0])
    #expect(
      found.first?.errors.contains("36 values are still under a data key from before") == true)
    #expect(found.first?.errors.contains("rotate --resume finishes it") == true)
    #expect(reports.first?["oldKey"] as? Int == 36)
    #expect(try tool.run("verify", "--json").json()["oldKey"] as? Int == 0)
    #expect(try tool.run("rotate", "--root", "--same-key", "--new-key-file", "x").code == 64)
  }

  @Test func aKeyFileThatIsLeftByAFailedInitIsNamed() throws {
    let tool = try Tool(hasVault: false)
    try FileManager.default.createDirectory(
      atPath: tool.path("open"), withIntermediateDirectories: false)
    // Below a folder that nobody else can enter, it would be taken.
    for (path, mode) in [(tool.folder.path, 0o711), (tool.path("open"), 0o777)] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
    let failed = try tool.run("init", "--vault", "open/a.vault", "--key-file", "a.key")
    #expect(failed.code == 77)
    let isThere = FileManager.default.fileExists(atPath: tool.path("a.key"))
    #expect(failed.errors.contains("a.key was created before this failed") == isThere)
  }

  @Test(arguments: ["\n", "\r\n"])
  func aLineOfAPassphraseMayEndAsOnWindows(_ lineBreak: String) throws {
    let tool = try Tool(hasVault: false)
    try tool.write("correct horse" + lineBreak + "ignored", to: "pass")
    try tool.write(Data(repeating: 1, count: 32).base64EncodedString() + lineBreak, to: "a.key")
    #expect(try tool.run("init", "--passphrase-file", "pass").code == 0)
    let added = try tool.run(
      "slots", "add", "--new-key-file", "a.key", "--passphrase-fd", "0", input: "correct horse")
    // It would be no key but a passphrase, which nobody means.
    #expect(added.code == (lineBreak == "\n" ? 0 : 64))
    #expect(added.errors.contains("it ends in a carriage return") == (lineBreak != "\n"))
    let set = try tool.run(
      "set", "A", "--passphrase-fd", "0", input: "correct horse\(lineBreak)value\(lineBreak)")
    #expect(set.code == 0)
    #expect(
      try tool.run("get", "A", "--passphrase-fd", "0", input: "correct horse").text == "value")
  }

  @Test func theTextOfALeakedKeyIsNoNewPassphrase() throws {
    let tool = try Tool()
    let recovery = try #require(try tool.run("recovery").lines.first)
    try tool.write(recovery + "\n", to: "paper")
    for path in [tool.keyFile, "paper"] {
      let refused = try tool.run("rotate", "--root", "--yes", "--new-passphrase-file", path)
      #expect(refused.code == 64)
      #expect(refused.errors.contains("the new key already opens the store"))
    }
    #expect(try tool.run("slots").lines.count == 2)
  }

  @Test func theKeyThatOpensTheVaultIsTheOneThatStays() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    tool.environment["CREDENTIALS_DIRECTORY"] = tool.folder.path
    try tool.write(Data(repeating: 9, count: 32).base64EncodedString(), to: "securestorage-key")
    let rotated = try tool.run("rotate", "--root", "--yes", "--same-key", "--json").json()
    #expect((rotated["ended"] as? [Any])?.isEmpty == true)
    #expect(try tool.run("slots").lines.map { $0.dropFirst() } == ["  file master.key"])
    tool.environment["CREDENTIALS_DIRECTORY"] = nil
    #expect(try tool.run("get", "A").text == "x")
  }

  /// strace(1) makes syncs of the log fail from the one on that follows those of the new keys.
  @Test func aRotationThatFailsAfterTheKeysWereChangedSaysSo() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    let failed = try tool.shell(
      "strace -f -qq -o /dev/null -P '\(tool.vault)-wal' -e trace=fdatasync "
        + "-e inject=fdatasync:error=EIO:when=4+ \"$0\" rotate --root --yes --new-key-file new.key")
    #expect(failed.code == 15 || failed.code == 74, "\(failed.errors)")
    #expect(failed.errors.contains("the new key now opens the vault"))
    #expect(try tool.run("get", "A").code == 10)
    #expect(try tool.run("get", "A", "--key-file", "new.key").text == "x")
    #expect(try tool.run("rotate", "--resume", "--key-file", "new.key").code == 0)
  }
}
