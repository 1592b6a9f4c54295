import Foundation
import TestSupport
import Testing

/// Keys end only when somebody has said so, and knows whose they are.
struct ConsentTests {
  /// A vault that opens with a key file, a passphrase and a recovery key.
  private static func tool() throws -> Tool {
    let tool = try Tool()
    try tool.write("correct horse\n", to: "pass")
    try tool.write("battery staple\n", to: "other")
    #expect(try tool.run("slots", "add", "--new-passphrase-file", "pass").code == 0)
    #expect(try tool.run("recovery").code == 0)
    #expect(try tool.run("set", "A", input: "x").code == 0)
    return tool
  }

  @Test(
    arguments: Depth.cases(
      [
        ["slots", "remove", "1"], ["slots", "change", "--new-key-file", "new/new.key"],
        ["passphrase", "--new-passphrase-file", "other"],
        ["rotate", "--root", "--new-key-file", "new/new.key"], ["rotate", "--root", "--same-key"],
      ], day: 2))
  func nothingEndsUnasked(_ command: [String]) throws {
    let tool = try Self.tool()
    let slots = try tool.run("slots").lines
    let words = command.joined(separator: " ")
    let refused = try tool.shell("setsid -w \"$0\" \(words) </dev/null")
    #expect(refused.code == 64, "\(refused.errors)")
    #expect(refused.errors.contains("nothing was changed"))
    #expect(refused.errors.contains("--yes"))
    // Of --same-key it is another one that stays.
    let isKept = command.contains("--same-key")
    #expect(refused.errors.contains("slot 1, file master.key") != isKept, "\(refused.errors)")
    if !isKept { #expect(refused.errors.contains("\(tool.keyFile) of com.example.tool")) }
    #expect(refused.errors.split(separator: "\n").count == 1)
    #expect(try tool.run("slots").lines == slots)
    #expect(!FileManager.default.fileExists(atPath: tool.path("new")))
    #expect(try tool.run("get", "A").text == "x")
    let json = try tool.shell("setsid -w \"$0\" \(words) --json </dev/null")
    #expect(try json.error()["exit"] as? Int == 64)

    let done = try tool.run(command + ["--yes"])
    #expect(done.code == 0, "\(done.errors)")
    #expect(try tool.run("slots").lines != slots)
  }

  @Test func whatEndsNothingAsksNothing() throws {
    let tool = try Tool()
    for words in [
      "rotate", "rotate --root --same-key", "slots add --new-key-file new.key", "recovery",
    ] {
      #expect(try tool.shell("setsid -w \"$0\" \(words) </dev/null").code == 0, "\(words)")
    }
    #expect(try tool.run("slots", "remove", "9").code == 64)
  }

  @Test func theLastKeyButARecoveryKeyIsWarnedOf() throws {
    let tool = try Tool()
    #expect(try tool.run("recovery").code == 0)
    let refused = try tool.shell(#"setsid -w "$0" slots remove 1 </dev/null"#)
    #expect(refused.errors.contains("Only a recovery key will be left"))
    let done = try tool.run("slots", "remove", "1", "--yes")
    #expect(done.code == 0)
    #expect(done.errors.contains("warning: unsound: Only a recovery key will be left"))
    #expect(try tool.run("slots").lines == ["2  recovery key"])
  }

  @Test func aServiceThatWouldHaveToTypeIsWarnedOf() throws {
    let tool = try Tool()
    try tool.write("correct horse\n", to: "pass")
    let done = try tool.run("passphrase", "--new-passphrase-file", "pass", "--yes")
    #expect(done.errors.contains("Only a passphrase will be left"))
  }

  @Test(
    arguments: Depth.cases(
      [
        ("aaaaaaaaaaaaaaaa", "again and again"), ("abababababab", "again and again"),
        ("123456789", "count up or down"), ("hgfedcba", "count up or down"),
        ("password2026!", "try first"), ("P4$$w0rd", "try first"), ("qwertyuiop", "try first"),
        ("Tr4vel-x", "fewer than 12 characters"), ("hunter22222", "try first"),
      ], day: 3))
  func aTrivialPassphraseIsWarnedOf(_ passphrase: String, _ reason: String) throws {
    let tool = try Tool()
    try tool.write(passphrase + "\n", to: "pass")
    let added = try tool.run("slots", "add", "--new-passphrase-file", "pass")
    #expect(added.code == 0, "\(added.errors)")
    #expect(added.errors.contains("warning: unsound: the new passphrase is easy to guess"))
    #expect(added.errors.contains(reason), "\(added.errors)")
    #expect(!added.errors.contains(passphrase))
    // It is said when it is made, and to nobody who only uses it.
    #expect(!(try tool.run("list", "--passphrase-file", "pass").errors.contains("easy")))
  }

  @Test func aGoodPassphraseIsNotWarnedOf() throws {
    for passphrase in ["orbit-velvet-canyon", "xK9vQ2mT7wLp", "välmående gröda"] {
      let tool = try Tool()
      try tool.write(passphrase + "\n", to: "pass")
      let added = try tool.run("slots", "add", "--new-passphrase-file", "pass")
      #expect(added.code == 0 && !added.errors.contains("easy"), "\(added.errors)")
    }
  }
}
