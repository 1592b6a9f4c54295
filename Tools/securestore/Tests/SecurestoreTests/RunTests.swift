import Foundation
import Testing

/// A program that is run with values.
struct RunTests {
  private static func tool() throws -> Tool {
    let tool = try Tool()
    for (name, value) in [("TOKEN", "hunter2"), ("DB_URL", "postgres://x"), ("_X1", "a b\n")] {
      #expect(try tool.run("set", name, "--raw", input: value).code == 0)
    }
    #expect(try tool.run("set", "PORT", "--type", "int", input: "80").code == 0)
    return tool
  }

  /// The variables that a program gets which is run with some arguments.
  private static func variables(_ tool: Tool, _ arguments: String...) throws -> [String: String] {
    let run = try tool.run(["run"] + arguments + ["--", "/usr/bin/env", "-0"])
    try #require(run.code == 0, "\(run.errors)")
    #expect(run.errors == "")
    let entries = run.text.split(separator: "\0").map {
      $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    }
    return Dictionary(uniqueKeysWithValues: entries.map { ($0[0], $0[1]) })
  }

  @Test func itGetsTheValuesThatAreNamedOrAll() throws {
    let tool = try Self.tool()
    tool.environment["TOKEN"] = "of the shell"
    tool.environment["OTHER"] = "stays"
    let all = try Self.variables(tool, "--all")
    #expect(all["TOKEN"] == "hunter2")
    #expect(all["DB_URL"] == "postgres://x")
    #expect(all["_X1"] == "a b\n")
    #expect(all["PORT"] == "80")
    #expect(all["OTHER"] == "stays")
    let one = try Self.variables(tool, "--only", "PORT")
    #expect(one["PORT"] == "80" && one["DB_URL"] == nil && one["TOKEN"] == "of the shell")
    let two = try Self.variables(tool, "--only", "PORT,DB_URL", "--env", "PASSWORD=TOKEN")
    #expect(two["PORT"] == "80" && two["DB_URL"] == "postgres://x" && two["_X1"] == nil)
    #expect(two["PASSWORD"] == "hunter2" && two["TOKEN"] == "of the shell")
    let rest = try Self.variables(tool, "--all", "--env", "PASSWORD=TOKEN")
    #expect(rest["PASSWORD"] == "hunter2" && rest["TOKEN"] == "of the shell")
    #expect(rest["PORT"] == "80")
  }

  @Test func itTakesThePlaceOfTheToolAndIsAsItWasStarted() throws {
    let tool = try Self.tool()
    let run = try tool.shell(
      #"""
      umask 027
      ulimit -c unlimited 2>/dev/null
      ulimit -c
      "$0" run --only TOKEN -- bash -c 'echo $$; umask; ulimit -c; trap; echo "$TOKEN"; exit 7' &
      echo $!
      wait $!
      echo code $?
      """#)
    let limit = try #require(run.lines.first)
    let (tools, child) = (run.lines.dropFirst(), run.lines)
    #expect(tools.filter { $0 == child[1] }.count == 2, "\(run.text)")
    #expect(run.lines.contains("0027"))
    #expect(run.lines.filter { $0 == limit }.count == 2, "\(run.text)")
    #expect(run.lines.contains("hunter2"))
    #expect(run.lines.last == "code 7")
    #expect(try tool.run("run", "--only", "TOKEN", "--", "sh", "-c", "kill -9 $$").code == 137)
  }

  @Test func aValueComesOverADescriptorThatNobodyChanges() throws {
    let tool = try Self.tool()
    let big = String(repeating: "0123456789", count: 100_000)
    _ = try tool.run("set", "BIG", input: big)
    let run = try tool.run(
      "run", "--fd", "5=TOKEN", "--fd", "3=BIG", "--", "bash", "-c",
      "cat <&5; echo; cat <&3 | wc -c; echo x 2>/dev/null >/proc/self/fd/5; cat /dev/fd/5; echo; env"
    )
    #expect(run.lines.prefix(3) == ["hunter2", "1000000", "hunter2"], "\(run.text)")
    #expect(!run.text.contains("TOKEN=") && !run.text.contains("PORT="))
    let input = try tool.run("run", "--fd", "0=TOKEN", "--", "cat")
    #expect(input.text == "hunter2")
    for number in ["1", "2", "-1", "x", "100000000"] {
      #expect(try tool.run("run", "--fd", "\(number)=TOKEN", "--", "cat").code == 64)
    }
    #expect(
      try tool.run("run", "--fd", "3=TOKEN", "--fd", "3=BIG", "--", "cat").code == 64)
  }

  @Test(arguments: [
    ("db.password", "db_password", "DB_PASSWORD"), ("1st", "_1st", "_1ST"),
    ("a name", "a_name", "A_NAME"), ("é", "__", "__"), ("A=b", "A_b", "A_B"),
  ])
  func aNameThatIsNoVariableIsRefusedOrMapped(
    _ name: String, _ underscore: String, _ upper: String
  ) throws {
    let tool = try Tool()
    _ = try tool.run("set", "--", name, input: "hunter2")
    let refused = try tool.run("run", "--all", "--", "env")
    #expect(refused.code == 18)
    #expect(refused.text == "")
    #expect(refused.errors.contains("--names"))
    #expect(try Self.variables(tool, "--all", "--names", "underscore")[underscore] == "hunter2")
    #expect(try Self.variables(tool, "--all", "--names", "upper")[upper] == "hunter2")
    #expect(try Self.variables(tool, "--env", "X=\(name)")["X"] == "hunter2")
  }

  @Test func twoValuesOfOneVariableAreNoChoice() throws {
    let tool = try Tool()
    for name in ["a.b", "a_b"] { _ = try tool.run("set", name, input: "x") }
    let refused = try tool.run("run", "--all", "--names", "upper", "--", "env")
    #expect(refused.code == 64 && refused.text == "")
    #expect(refused.errors.contains("would both go into the variable A_B"))
  }

  @Test func aVariableHoldsNoZeroByteAndNoLargeValue() throws {
    let tool = try Tool()
    _ = try tool.run(["set", "ZERO", "--type", "data"], input: Data([1, 0, 2]))
    _ = try tool.run("set", "BIG", input: String(repeating: "x", count: 200_000))
    for name in ["ZERO", "BIG"] {
      let refused = try tool.run("run", "--only", name, "--", "env")
      #expect(refused.code == 18 && refused.text == "")
      #expect(refused.errors.contains("--fd"))
    }
    #expect(try tool.run("run", "--fd", "0=ZERO", "--", "cat").output == Data([1, 0, 2]))
  }

  @Test func theProgramGetsNoKey() throws {
    let tool = try Tool()
    _ = try tool.run("set", "TOKEN", input: "hunter2")
    try tool.write("correct horse\n", to: "pass")
    tool.environment["VAULT_KEY"] = Data(repeating: 7, count: 32).base64EncodedString()
    #expect(try tool.run("slots", "add", "--new-passphrase-file", "pass").code == 0)
    #expect(try tool.run("slots", "add", "--new-key-env", "VAULT_KEY").code == 0)
    // Whichever key opened the vault: the variable of a slot is a key.
    for key in [[], ["--key-env", "VAULT_KEY"]] {
      let run = try tool.run(["run", "--all"] + key + ["--", "env"])
      #expect(run.lines.contains("TOKEN=hunter2"))
      #expect(!run.text.contains("VAULT_KEY"))
    }
    let closed = try tool.shell(
      #""$0" run --all --passphrase-fd 9 -- bash -c 'echo "$TOKEN"; cat <&9' 9<pass"#)
    #expect(closed.lines == ["hunter2"])
    #expect(closed.errors.contains("9: Bad file descriptor"))
    let empty = try tool.shell(#""$0" run --all --passphrase-fd 0 -- cat <pass"#)
    #expect(empty.code == 0 && empty.text == "")
    let recovery = try #require(try tool.run("recovery").lines.first)
    try tool.write(recovery + "\nrest\n", to: "paper")
    let paper = try tool.shell(#""$0" run --all --recovery-fd 8 -- bash -c 'cat <&8' 8<paper"#)
    #expect(paper.text == "")
  }

  @Test func whatCantBeRunSaysSoAsAShellDoes() throws {
    let tool = try Self.tool()
    try tool.write("text", to: "plain")
    let missing = try tool.run("run", "--all", "--", "no-such-program")
    #expect(missing.code == 127)
    #expect(missing.errors.hasPrefix("securestore: notFound: no-such-program: "))
    #expect(try tool.run("run", "--all", "--", "./plain").code == 126)
    #expect(
      try tool.run("run", "--all", "--json", "--", "no-such-program").error()["exit"] as? Int == 127
    )
    for arguments in [["run"], ["run", "--"], ["run", "env"], ["run", "--only", "TOKEN", "env"]] {
      let refused = try tool.run(arguments)
      #expect(refused.code == 64 && refused.text == "")
      #expect(refused.errors.contains("behind --") || refused.errors.contains("-- [<command>"))
    }
    let all = try tool.run("run", "--", "env")
    #expect(all.code == 64 && all.text == "")
    for option in ["--only", "--env", "--fd", "--all"] { #expect(all.errors.contains(option)) }
    let absent = try tool.run("run", "--only", "NOPE", "--", "env")
    #expect(absent.code == 1 && absent.text == "")
  }

  @Test func nothingIsLeftOnTheDisk() throws {
    let tool = try Self.tool()
    _ = try tool.run("list")
    let manager = FileManager.default
    let before = Set(try manager.subpathsOfDirectory(atPath: tool.folder.path))
    let run = try tool.run(
      "run", "--all", "--fd", "3=TOKEN", "--", "find", ".", "-newer", tool.vault)
    #expect(run.code == 0, "\(run.errors)")
    let after = Set(try manager.subpathsOfDirectory(atPath: tool.folder.path))
    #expect(before == after)
  }
}
