import DefaultsBackend
import Foundation
import StorageCore
import Testing

/// What is done to whole vaults.
struct AdministrationTests {
  @Test func aSoundVaultIsVerified() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    let report = try tool.run("verify", "--expect", "A", "--json")
    #expect(report.code == 0)
    #expect(try report.json()["sound"] as? Bool == true)
    #expect(try report.json()["values"] as? Int == 1)
    let missing = try tool.run("verify", "--expect", "B")
    #expect(missing.code == 2)
    #expect(missing.text.contains("absent: B"))
  }

  @Test func damageIsFoundAndRepairedOnlyWhenConfirmed() throws {
    let tool = try Tool.withDamagedValue()
    #expect(try tool.run("get", "BIG").code == 12)
    #expect(try tool.run("get", "GOOD").text == "x")
    let list = try tool.run("list")
    #expect(list.code == 12)
    #expect(list.lines == ["GOOD"])
    let report = try tool.run("verify", "--json")
    #expect(report.code == 2)
    #expect(try report.json()["sound"] as? Bool == false)
    #expect(try tool.run("doctor").code == 2)

    let unasked = try tool.shell(#"setsid -w "$0" repair </dev/null"#)
    #expect(unasked.code == 64)
    #expect(try tool.run("verify").code == 2)
    #expect(try tool.run("repair", "--yes").code == 0)
    let accepted = try tool.run("verify")
    #expect(accepted.code == 0)
    #expect(accepted.errors.contains("1 of them not opened"))
    let expected = try tool.run("verify", "--expect", "GOOD", "--expect", "BIG", "--json")
    #expect(expected.code == 2)
    #expect(try expected.json()["closed"] as? [String] == ["BIG"])
    #expect(try expected.json()["notOpened"] as? Int == 1)
    #expect(try tool.run("list").lines == ["GOOD"])
    #expect(try tool.run("repair", "--yes").code == 0)
  }

  @Test func whatNothingOpensIsDroppedOnlyWhenThatIsAskedFor() throws {
    let tool = try Tool.withDamagedValue()
    let unasked = try tool.shell(#"setsid -w "$0" repair --drop-unreadable </dev/null"#)
    #expect(unasked.code == 64)
    #expect(unasked.errors.contains("1 of 2 values kept, 1 unreadable dropped"))
    #expect(unasked.errors.contains("lost for good"))
    let kept = try tool.run("repair", "--yes", "--json").json()
    #expect(kept["values"] as? Int == 1 && kept["notOpened"] as? Int == 1)
    #expect(kept["dropped"] as? Int == 0 && kept["oldFile"] is NSNull)
    let list = try tool.run("list")
    #expect(list.code == 12 && list.errors.contains("repair --drop-unreadable"))
    let dropped = try tool.run("repair", "--yes", "--drop-unreadable", "--json").json()
    #expect(dropped["values"] as? Int == 1 && dropped["notOpened"] as? Int == 0)
    #expect(dropped["dropped"] as? Int == 1 && dropped["expected"] as? Int == 2)
    #expect(try tool.run("list").code == 0)
    #expect(try tool.run("verify", "--json").json()["notOpened"] as? Int == 0)
  }

  @Test func aRepairSaysHowMuchIsLeftAndWhereTheOldFileIs() throws {
    let tool = try Tool()
    for name in ["A", "B", "C"] { _ = try tool.run("set", name, input: "x") }
    #expect(try tool.run("backup", "copy.vault").code == 0)
    let whole = try Data(contentsOf: URL(fileURLWithPath: tool.vault))
    var broken = whole
    broken.breakPage(2)
    try broken.write(to: URL(fileURLWithPath: tool.vault))
    let unasked = try tool.shell(#"setsid -w "$0" repair </dev/null"#)
    #expect(unasked.code == 64)
    #expect(unasked.errors.contains("0 of 3 values kept, 3 lost"))
    #expect(unasked.errors.contains("stays beside the new one"))
    let unnamed = try tool.run("repair", "--yes")
    #expect(unnamed.code == 2 && unnamed.errors.contains("--accept deletedRecord"))
    #expect(!FileManager.default.fileExists(atPath: tool.vault + ".damaged-1"))
    let repaired = try tool.run("repair", "--yes", "--accept", "deletedRecord")
    #expect(repaired.code == 0)
    let old = tool.vault + ".damaged-1"
    #expect(repaired.errors.contains("0 of 3 values kept, 3 lost; the old file is \(old)"))
    #expect(FileManager.default.fileExists(atPath: old))

    try whole.prefix(whole.pageSize * 3 / 4).write(to: URL(fileURLWithPath: tool.vault))
    let restored = try tool.run("restore", "copy.vault", "--yes", "--json").json()
    #expect(restored["oldFile"] as? String == tool.vault + ".damaged-2")
    #expect(restored["values"] as? Int == 3)
    #expect(try tool.run("restore", "copy.vault", "--yes").errors.contains(": 3 values"))
  }

  @Test func whatIsNotDamagedIsExportedWhenTheRestIsLeftOut() throws {
    let tool = try Tool.withDamagedValue()
    let refused = try tool.run("export", "--to", "out.env")
    #expect(refused.code == 12)
    #expect(refused.errors.contains("--skip"))
    #expect(!refused.errors.contains("listing()"))
    #expect(!FileManager.default.fileExists(atPath: tool.path("out.env")))
    let exported = try tool.run("export", "--skip", "--stdout")
    #expect(exported.code == 0)
    #expect(exported.text == "GOOD=x\n")
    #expect(exported.errors.contains("1 value can't be read"))
    let named = try tool.run("export", "--skip", "--to", "out.json", "--json", "GOOD", "BIG")
    #expect(try named.json()["exported"] as? Int == 1)
    #expect(try named.json()["skipped"] as? [String] == ["BIG"])
    #expect(try tool.run("export", "--stdout", "BIG").code == 12)
    for arguments in [["--long"], ["--json"], ["--null"]] {
      let list = try tool.run(["list"] + arguments)
      #expect(list.code == 12)
      #expect(list.text.contains("GOOD"))
    }
  }

  @Test func aBackupNeedsNoKeyAndIsRestored() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "first")
    let key = try Data(contentsOf: URL(fileURLWithPath: tool.keyFile))
    try FileManager.default.removeItem(atPath: tool.keyFile)
    #expect(try tool.run("backup", "copy.vault", "--key-file", tool.keyFile).code == 0)
    #expect(try tool.run("slots", "list", "--key-file", tool.keyFile).code == 0)
    #expect(try tool.run("slots", "--key-file", tool.keyFile).code == 0)
    #expect(
      FileManager.default.createFile(
        atPath: tool.keyFile, contents: key, attributes: [.posixPermissions: 0o600]))
    #expect(try tool.run("backup", "copy.vault").code == 3)
    _ = try tool.run("set", "A", input: "second")
    _ = try tool.run("set", "B", input: "new")

    let unasked = try tool.shell(#"setsid -w "$0" restore copy.vault </dev/null"#)
    #expect(unasked.code == 64)
    #expect(try tool.run("get", "A").text == "second")
    let restored = try tool.run("restore", "copy.vault", "--yes")
    #expect(restored.code == 0, "\(restored.errors)")
    #expect(try tool.run("get", "A").text == "first")
    #expect(try tool.run("list").lines == ["A"])
    #expect(try tool.run("restore", "nothing.vault", "--yes").code == 66)
    #expect(try tool.run("backup", "copy.vault", "--replace").code == 0)
  }

  @Test func aLostVaultIsMadeOfItsBackup() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    _ = try tool.run("backup", "copy.vault")
    try FileManager.default.removeItem(atPath: tool.vault)
    let restored = try tool.run("restore", "copy.vault")
    #expect(restored.code == 0, "\(restored.errors)")
    #expect(try tool.run("get", "A").text == "x")
  }

  @Test func compactingGivesSpaceBack() throws {
    let tool = try Tool()
    _ = try tool.run("set", "BIG", input: String(repeating: "y", count: 1_000_000))
    _ = try tool.run("remove", "BIG")
    let result = try tool.run("compact", "--json").json()
    let (before, after) = (result["before"] as? Int ?? 0, result["after"] as? Int ?? 0)
    #expect(after > 0)
    #expect(after < before)
    #expect(try tool.run("verify").code == 0)
  }

  @Test func aSuiteOfUserDefaultsIsMovedIn() throws {
    let tool = try Tool()
    let variables = ProcessInfo.processInfo.environment
    // Only where that is not the user's own folder: scripts/private-env.sh.
    try #require(variables["SPS_PRIVATE_ENVIRONMENT"] == "1")
    tool.environment["XDG_CONFIG_HOME"] = variables["XDG_CONFIG_HOME"]
    let name = "com.example.suite.\(UUID().uuidString)"
    let suite = UserDefaultsStorage(
      suiteName: name, keySource: .file(URL(fileURLWithPath: tool.keyFile)))
    try suite.save("x", forKey: "A")
    try suite.save(7, forKey: "B")
    let moved = try tool.run("migrate", "--from-suite", name, "--json")
    #expect(moved.code == 0, "\(moved.errors)")
    #expect(try moved.json()["removed"] as? Int == 2)
    #expect(try tool.run("get", "B").text == "7")
    #expect(try suite.keys().isEmpty)
  }

  @Test func anotherVaultIsMovedIn() throws {
    let tool = try Tool()
    #expect(try tool.run("init", "--vault", "old.vault", "--key-file", "old.key").code == 0)
    for name in ["A", "B"] {
      _ = try tool.run(
        "set", name, "--vault", "old.vault", "--key-file", "old.key", input: name)
    }
    _ = try tool.run("set", "B", input: "mine")
    let arguments = ["migrate", "--from-vault", "old.vault", "--from-key-file", "old.key"]
    let moved = try tool.run(arguments + ["--json"])
    #expect(moved.code == 3)
    #expect(try moved.json()["conflicts"] as? [String] == ["B"])
    #expect(try tool.run("get", "A").text == "A")
    #expect(try tool.run("get", "B").text == "mine")
    #expect(
      try tool.run("list", "--vault", "old.vault", "--key-file", "old.key").lines == ["B"])
    #expect(try tool.run(arguments + ["--overwrite"]).code == 0)
    #expect(try tool.run("get", "B").text == "B")
  }

  @Test func anotherApplicationsVaultIsMovedIn() throws {
    let tool = try Tool()
    let old = ["--app", "com.example.old"]
    #expect(try tool.run(["init"] + old).code == 0)
    #expect(try tool.run(["set", "A"] + old, input: Data("x".utf8)).code == 0)
    #expect(try tool.run("migrate", "--from-app", "com.example.old").code == 0)
    #expect(try tool.run("get", "A").text == "x")
    #expect(try tool.run(["list"] + old).text == "")
    #expect(try tool.run("migrate", "--from-app", "com.example.tool").code == 64)
  }

  @Test func whatTheKeyOfTheOtherStoreIsIsHinted() throws {
    let tool = try Tool()
    let old = ["--vault", "old.vault", "--key-file", "old/master.key"]
    #expect(try tool.run(["init"] + old).code == 0)
    #expect(try tool.run(["set", "A"] + old, input: Data("x".utf8)).code == 0)
    let result = try tool.run("migrate", "--from-vault", "old.vault")
    #expect(result.code == 11, "\(result.errors)")
    #expect(result.errors.contains("--from-key-file"))
    #expect(result.errors.contains("old.vault"))
  }

  @Test func aSourceThatIsNotThereIsAnError() throws {
    let tool = try Tool()
    let suite = try tool.run("migrate", "--from-suite", "com.example.old")
    #expect(suite.code == 66)
    #expect(suite.errors.contains("com.example.old.secure.plist"))
    #expect(try tool.run("migrate", "--from-suite", "a/b").code == 64)
    #expect(try tool.run("migrate", "--from-vault", "nothing.vault").code == 66)
    #expect(try tool.run("migrate", "--from-app", "com.example.nothing").code == 66)
    #expect(try tool.run("migrate", "--from-app", "a/b").code == 64)
    #expect(try tool.run("migrate").code == 64)
  }

  @Test func aBackupTakesThePlaceOfAVaultOnly() throws {
    let tool = try Tool()
    let manager = FileManager.default
    _ = try tool.run("set", "A", input: "x")
    #expect(try tool.run("compact").code == 0)
    var other = try Data(contentsOf: URL(fileURLWithPath: tool.vault))
    other[71] ^= 1  // a database of another application
    try other.write(to: URL(fileURLWithPath: tool.path("other.db")))
    try tool.write(String(repeating: "x", count: 100), to: "long.key")
    try manager.createSymbolicLink(
      atPath: tool.path("link"), withDestinationPath: tool.keyFile)
    try manager.createDirectory(atPath: tool.path("folder"), withIntermediateDirectories: false)
    _ = try tool.shell("mkfifo -m 600 fifo")
    for path in [tool.keyFile, "other.db", "long.key", "link", "folder", "fifo"] {
      let refused = try tool.run("backup", path, "--replace")
      #expect(refused.code == 3, "\(path): \(refused.errors)")
      #expect(refused.errors.contains("it was not touched"))
    }
    let refused = try tool.run("backup", tool.keyFile, "--replace")
    #expect(refused.errors.contains("--replace replaces only a vault, and this is not a vault"))
    #expect(try tool.run("get", "A").text == "x")

    try tool.write("", to: "empty")
    #expect(try tool.run("backup", "empty", "--replace").code == 0)
    var damaged = try Data(contentsOf: URL(fileURLWithPath: tool.path("empty")))
    damaged = damaged.prefix(damaged.pageSize) + Data(repeating: 0xA5, count: 100)
    try damaged.write(to: URL(fileURLWithPath: tool.path("empty")))
    #expect(try tool.run("backup", "empty", "--replace").code == 0)
    #expect(try tool.run("verify", "--vault", "empty", "--key-file", tool.keyFile).code == 0)
    #expect(try tool.run("backup", tool.vault, "--replace").code == 64)
  }
}
