import Foundation
import Testing

/// What is answered where something is not as it should be, to people and to programs.
struct AnswerTests {
  /// The objects on standard error, one a line.
  private func objects(_ errors: String) throws -> [[String: Any]] {
    try errors.split(separator: "\n").map { line in
      try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    }
  }

  @Test func aVaultThatIsGoneWhileItsLogIsThereIsNotCalledAbsent() throws {
    let tool = try Tool(hasVault: false)
    for suffix in ["-wal", "-journal"] {
      let path = tool.path("gone.vault\(suffix)")
      try Data(repeating: 7, count: 600).write(to: URL(fileURLWithPath: path))
      for command in ["verify", "slots", "list", "init", "doctor"] {
        let refused = try tool.run(
          command, "--vault", "gone.vault", "--key-file", tool.keyFile)
        #expect(refused.code == (command == "doctor" ? 2 : 12), "\(command)")
        let said = command == "doctor" ? refused.text : refused.errors
        #expect(said.contains("the vault is gone, but its log is still there"), "\(said)")
        #expect(!said.contains("init creates it") && !said.contains("create one with init"))
      }
      try FileManager.default.removeItem(atPath: path)
    }
  }

  @Test func anExportToStandardOutputForProgramsIsJSON() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    #expect(try tool.run("export", "--stdout", "--json").json() as? [String: String] == ["A": "x"])
    #expect(try tool.run("export", "--stdout").text == "A=x\n")
    #expect(try tool.run("export", "--stdout", "--json", "--format", "dotenv").code == 64)
  }

  @Test func whatIsLeftOutIsAWarning() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    _ = try tool.run("set", "not a name", input: "x")
    let answer = try tool.run("export", "--to", "a.env", "--skip", "--json")
    #expect(try answer.json()["skipped"] as? [String] == ["not a name"])
    let warnings = try objects(answer.errors).compactMap { $0["warning"] as? [String: Any] }
    #expect(warnings.map { $0["message"] as? String } == ["left out: not a name"])
    let said = try tool.run("export", "--stdout", "--skip")
    #expect(said.errors.contains("left out: not a name"))
  }

  @Test func aRepairForProgramsSaysNothingElse() throws {
    let sound = try Tool()
    for name in ["A", "B"] { _ = try sound.run("set", name, input: name) }
    let nothing = try sound.run("repair", "--json").json()
    #expect(nothing["values"] as? Int == 2 && nothing["expected"] as? Int == 2)
    for name in ["notOpened", "dropped", "gone"] { #expect(nothing[name] as? Int == 0) }
    #expect(nothing["oldFile"] is NSNull && nothing["path"] as? String == sound.vault)

    let tool = try Tool.withDamagedValue()
    let asked = try tool.shell(#"setsid -w "$0" repair --json </dev/null"#)
    #expect(asked.code == 64)
    #expect(try objects(asked.errors).count == 1)
    let repaired = try tool.run("repair", "--json", "--yes").json()
    #expect(repaired["values"] as? Int == 1 && repaired["notOpened"] as? Int == 1)
  }

  @Test func aVaultThatLacksWhatIsExpectedIsNotSound() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    let found = try tool.run("verify", "--json", "--expect", "A", "--expect", "B")
    #expect(found.code == 2)
    #expect(try found.json()["sound"] as? Bool == false)
    #expect(try found.json()["absent"] as? [String] == ["B"])
    #expect(try tool.run("verify", "--json", "--expect", "A").json()["sound"] as? Bool == true)
  }

  @Test func aFileThatIsNoVaultIsSaidToBeNone() throws {
    let tool = try Tool()
    try tool.write(String(repeating: "some text ", count: 100), to: "notes")
    for arguments in [["list"], ["rotate"], ["slots"], ["get", "A"]] {
      let refused = try tool.run(arguments + ["--vault", "notes", "--key-file", tool.keyFile])
      #expect(refused.code == 12)
      #expect(
        refused.errors.contains("the file is not a vault, or its first bytes were overwritten"))
    }
    let restore = ["restore", tool.vault, "--yes"]
    for arguments in [["list"], ["rotate"], ["slots"], ["verify"], restore] {
      let refused = try tool.run(
        arguments + ["--vault", tool.data, "--key-file", tool.keyFile])
      #expect(refused.code == 77)
      #expect(refused.errors.contains("it is a folder, not a vault"), "\(refused.errors)")
    }
  }

  @Test func inputOfNoBytesIsNoImport() throws {
    let tool = try Tool()
    for format in ["dotenv", "json"] {
      let refused = try tool.run("import", "-", "--format", format)
      #expect(refused.code == 65)
      #expect(refused.errors.contains("it is empty, and nothing was imported"))
      #expect(try tool.run("import", "-", "--format", format, "--allow-empty").code == 0)
    }
    #expect(try tool.run("import", "-", input: "# nothing\n").code == 0)
    #expect(try tool.run("import", "-", "--format", "json", input: "{}").code == 0)
  }

  @Test func aNameThatIsGivenTwiceCountsOnce() throws {
    let tool = try Tool()
    for name in ["A", "B"] { _ = try tool.run("set", name, input: "x") }
    let text = try tool.run("export", "--stdout", "--format", "json", "A", "A").text
    #expect(text == "{\n  \"A\": \"x\"\n}\n")
    #expect(
      try tool.run("remove", "A", "A", "B", "--json").json()["removed"] as? [String] == ["A", "B"])
  }

  @Test func twoThatExcludeEachOtherAreCalledThat() throws {
    let tool = try Tool()
    let calls = [
      ["rotate", "--root", "--same-key", "--new-key-file", "a.key"],
      ["export", "--to", "a.env", "--stdout"],
    ]
    for call in calls {
      let refused = try tool.run(call)
      #expect(refused.code == 64 && refused.errors.contains("not both"))
    }
    let refused = try tool.run("migrate", "--from-app", "a", "--from-vault", "b")
    #expect(refused.code == 64 && refused.errors.contains("give only one --from- option"))
  }

  @Test func aValueOfAnotherTagIsNotOnlyCalledDamaged() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", "--authentication-tag", "t", input: "x")
    let list = try tool.run("list")
    #expect(list.code == 12)
    #expect(list.errors.contains("sealed with another --authentication-tag; see verify"))
    let repair = try tool.shell(#"setsid -w "$0" repair --drop-unreadable </dev/null"#)
    #expect(
      repair.errors.contains("A value sealed with another --authentication-tag is dropped, too"))
  }

  @Test func aGoodBackupIsNotReplacedByABrokenOne() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: String(repeating: "x", count: 100_000))
    _ = try tool.run("compact")
    #expect(try tool.run("backup", "copy.vault").code == 0)
    var broken = try Data(contentsOf: URL(fileURLWithPath: tool.vault))
    broken.breakPage(broken.count / broken.pageSize / 2)
    try broken.write(to: URL(fileURLWithPath: tool.vault))
    let refused = try tool.run("backup", "copy.vault", "--replace")
    #expect(refused.code == 12)
    #expect(refused.errors.contains("The existing backup was kept"))
    let copy = try tool.run("verify", "--vault", "copy.vault", "--key-file", tool.keyFile)
    #expect(copy.code == 0)
  }

  @Test func aPlaceThatCantBeWrittenToIsReadOnly() throws {
    let tool = try Tool()
    let folder = tool.path("closed")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try tool.locking(folder) {
      for arguments in [
        ["export", "--to", "closed/a.env"], ["backup", "closed/a.vault"],
        ["init", "--vault", "closed/new/a.vault", "--key-file", "a.key"],
        ["init", "--vault", "closed/a.vault", "--key-file", "a.key"],
      ] {
        let refused = try tool.runUnprivileged(arguments)
        #expect(refused.code == 17, "\(refused.errors)")
        #expect(refused.errors.contains("folder writable"), "\(refused.errors)")
      }
    }
    try tool.write("text", to: "file")
    let refused = try tool.run("init", "--vault", "file/a.vault", "--key-file", "a.key")
    #expect(refused.code == 3 && refused.errors.contains("a file stands where a folder is needed"))
  }

  @Test func aHyphenIsNoFileToWriteTo() throws {
    let tool = try Tool()
    for arguments in [["backup", "-"], ["export", "--to", "-"]] {
      #expect(try tool.run(arguments).code == 64)
    }
    #expect(!FileManager.default.fileExists(atPath: tool.path("-")))
    #expect(try tool.run("backup", "./-").code == 0)
  }

  @Test func aKeyFileThatAVaultDoesNotNeedIsNotToBeMade() throws {
    let tool = try Tool(hasVault: false)
    try tool.write("correct horse\n", to: "pass")
    #expect(try tool.run("doctor").text.contains("master.key does not exist; init creates it"))
    #expect(try tool.run("init", "--passphrase-file", "pass").code == 0)
    #expect(try tool.run("doctor").text.contains("master.key does not exist\n"))
  }

  @Test func aPlaceThatIsNotThereIsUnavailable() throws {
    let tool = try Tool()
    let export = try tool.run("export", "--to", "missing/a.env")
    #expect(export.code == 69)
    #expect(export.errors.contains("\(tool.path("missing")): the folder does not exist"))
    let made = try tool.run("init", "--vault", "/proc/none/a.vault", "--key-file", "a.key")
    #expect(made.code == 69)
  }

  @Test func aVaultThatCantBeLookedForIsNotCalledAbsent() throws {
    let tool = try Tool()
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: tool.data)
    defer {
      try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: tool.data)
    }
    for arguments in [["list"], ["get", "A"], ["verify"], ["slots"], ["restore", tool.vault]] {
      let refused = try tool.runUnprivileged(arguments)
      #expect(refused.code == 77)
      #expect(!refused.errors.contains("there is no"))
    }
    let found = try tool.runUnprivileged(["doctor"])
    #expect(found.code == 2)
    #expect(!found.text.contains("does not exist; init creates it"))
  }

  @Test func aVaultThatItsOwnerMayNotReadIsSaidToBeSo() throws {
    let tool = try Tool()
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: tool.vault)
    let refused = try tool.runUnprivileged(["list"])
    #expect(refused.code == 77)
    #expect(refused.errors.contains("run chmod u+rw on it"))
  }

  @Test func aKeyFileThatCantBeReadIsNotCalledGood() throws {
    let tool = try Tool()
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: tool.keyFile)
    let found = try tool.runUnprivileged(["doctor"])
    #expect(found.text.contains("BAD  key file"))
    #expect(found.text.contains("master.key can't be read: Permission denied"))
  }

  @Test(arguments: ["-hunter2", "-ahb", "-qh"])
  func aValueThatBeginsWithAHyphenIsNoCallForHelp(_ value: String) throws {
    let tool = try Tool()
    let refused = try tool.run("set", "A", value)
    #expect(refused.code == 64)
    #expect(refused.text == "" && !refused.errors.contains(value))
    #expect(try tool.run("list").text == "")
    #expect(try tool.run("set", "-h").text.contains("USAGE"))
    #expect(try tool.run("set", "--", value, input: "x").code == 0)
    #expect(try tool.run("get", "--", value).text == "x")
  }
}
