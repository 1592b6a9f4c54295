import Foundation
import StorageCore
import TestSupport
import Testing
import VaultBackend

@testable import securestore

/// How the command line is read, and what is said of one that is wrong.
struct CommandLineTests {
  @Test(arguments: [
    ["--app", "com.example.tool", "list"], ["-q", "list"], ["--quiet", "--wait", "3", "list"],
    ["--app=com.example.tool", "list", "--null"], ["--vault", "default", "list"],
  ])
  func optionsMayStandBeforeTheCommand(_ arguments: [String]) throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    tool.environment["SECURESTORE_APP"] = arguments.contains("-q") ? "com.example.tool" : nil
    if !arguments.contains(where: { $0.hasPrefix("--app") }) {
      tool.environment["SECURESTORE_APP"] = "com.example.tool"
    }
    let vault = tool.vault
    let run = try tool.run(
      arguments.map { $0 == "default" ? vault : $0 }
        + (arguments.contains("default") ? ["--key-file", tool.keyFile] : []))
    #expect(run.code == 0, "\(run.errors)")
    #expect(run.text.hasPrefix("A"))
  }

  @Test func optionsMayStandBeforeAndBetweenTheWordsOfACommand() throws {
    let tool = try Tool()
    let slots = ["1  file master.key"]
    #expect(try tool.run("--json", "slots", "list").json()["slots"] != nil)
    #expect(try tool.run("slots", "-q", "list").lines == slots)
    #expect(try tool.run("-q", "slots").lines == slots)
    #expect(try tool.run("--app", "x", "--help").text.contains("USAGE: securestore"))
    #expect(try tool.run("-q", "--version").text == "0.1.0\n")
    for arguments in [["-q"], ["--app", "list"], ["--json", "--wait", "3"]] {
      let refused = try tool.run(arguments)
      #expect(refused.code == 64)
      #expect(refused.errors.contains("a command must follow"), "\(refused.errors)")
    }
    #expect(try tool.run("--app", "x", "lst").errors.contains("did you mean list?"))
    // A value is not one of these: -- ends them.
    #expect(try tool.run("get", "--", "--json").code == 1)
  }

  @Test func theseOptionsAreThoseOfTheCommands() throws {
    let tool = try Tool(hasVault: false)
    let dump = try tool.run("--experimental-dump-help").json()
    let root = try #require(dump["command"] as? [String: Any])
    var kinds: [String: Set<String>] = [:]
    func visit(_ command: [String: Any]) {
      for argument in command["arguments"] as? [[String: Any]] ?? [] {
        for name in argument["names"] as? [[String: Any]] ?? [] {
          let dashes = name["kind"] as? String == "short" ? "-" : "--"
          kinds[dashes + (name["name"] as? String ?? ""), default: []]
            .insert(argument["kind"] as? String ?? "")
        }
      }
      for subcommand in command["subcommands"] as? [[String: Any]] ?? [] { visit(subcommand) }
    }
    visit(root)
    for option in GlobalOptions.valued { #expect(kinds[option] == ["option"], "\(option)") }
    for flag in GlobalOptions.flags { #expect(kinds[flag] == ["flag"], "\(flag)") }
  }

  @Test(
    arguments: Depth.cases(
      [
        ["list", "hunter2"], ["get"], ["get", "A", "hunter2"], ["list", "--lnog"], ["remove"],
        ["rotate", "--names"], ["slots", "remove", "x"], ["verify", "--expect"], ["lst"], ["-q"],
        ["list", "--wait", "x"], ["set", "A", "hunter2"], ["get", "NOPE"],
        ["list", "--app", "a/b"],
        ["import", "none.env"], ["init"], ["run"], ["files", "list"], ["export"], ["backup", "-"],
      ], day: 6))
  func everyErrorIsOneLineOfOneForm(_ arguments: [String]) throws {
    let tool = try Tool()
    let refused = try tool.run(arguments)
    #expect(refused.code != 0)
    #expect(refused.text == "")
    let lines = refused.errors.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 2 && lines[1] == "", "\(refused.errors)")
    let form = try Regex(#"securestore: [a-zA-Z]+: .+"#)
    #expect(try form.wholeMatch(in: String(lines[0])) != nil, "\(refused.errors)")
    #expect(!refused.errors.contains("hunter2"))
    let json = try tool.run(arguments + ["--json"]).error()
    #expect(json["exit"] as? Int == Int(refused.code))
    #expect(refused.errors.contains(json["message"] as? String ?? "none"))
  }

  @Test func anUnexpectedArgumentIsExplained() throws {
    let tool = try Tool()
    let list = try tool.run("list", "A")
    #expect(list.errors.contains("securestore list takes only options"))
    let get = try tool.run("get", "my", "name")
    #expect(get.errors.contains("securestore get takes <name> and options"))
    #expect(get.errors.contains("Put a name with spaces in quotes"))
    #expect(get.errors.contains("Usage: securestore get [<options>] <name>"))
  }

  @Test func aNameWithAValueIsExplainedAndNotRepeated() throws {
    let tool = try Tool()
    for arguments in [["set", "FOO=hunter2"], ["get", "FOO=hunter2"], ["remove", "FOO=hunter2"]] {
      let refused = try tool.run(arguments, input: Data("x".utf8))
      #expect(refused.code == (arguments[0] == "set" ? 64 : 1))
      #expect(refused.errors.contains(#"key "FOO=…": "#), "\(refused.errors)")
      #expect(refused.errors.contains("give only the name"))
      #expect(!refused.errors.contains("hunter2"))
    }
    #expect(try tool.run("list").text == "")
    #expect(try tool.run("set", "--", "FOO=bar", input: "x").code == 0)
    #expect(try tool.run("get", "FOO=bar").text == "x")
  }

  @Test func theVariableOfAKeyFileCountsForAnApplicationToo() throws {
    let tool = try Tool(hasVault: false)
    tool.environment["SECURESTORE_KEY_FILE"] = tool.path("keys/tool.key")
    let made = try tool.run("init", "--app", "com.example.other")
    #expect(made.code == 0, "\(made.errors)")
    #expect(made.errors.contains("opens with file tool.key"))
    #expect(try tool.run("--app", "com.example.other", "set", "A", input: "x").code == 0)
    #expect(try tool.run("--app", "com.example.other", "get", "A").text == "x")
    // It is not that of a vault which opens with another key.
    tool.environment["SECURESTORE_KEY_FILE"] = nil
    #expect(try tool.run("init").code == 0)
    tool.environment["SECURESTORE_KEY_FILE"] = tool.path("keys/tool.key")
    #expect(try tool.run("list").code == 0)
    #expect(try tool.run("rotate", "--root", "--same-key").code == 0)
    tool.environment["SECURESTORE_KEY_FILE"] = nil
    #expect(try tool.run("--app", "com.example.other", "get", "A").code == 10)
  }

  @Test func theWayFromAKeyFileToACredentialIsExplained() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    // Where a service meets it, in its log.
    let service = VaultStorage(
      at: URL(fileURLWithPath: tool.vault), keySource: .systemdCredential("tool-key"))
    let error = #expect(throws: StorageError.self) {
      try service.load(String.self, forKey: "A")
    }
    #expect(error?.message.contains("securestore slots add --new-credential tool-key") == true)
    // Where its operator does.
    let unknown = try tool.run("get", "A", "--credential", "tool-key")
    #expect(unknown.code == 10)
    #expect(unknown.errors.contains("slots add --new-credential"), "\(unknown.errors)")
    let add = ["slots", "add", "--new-credential", "tool-key"]
    let shell = try tool.run(add)
    #expect(shell.code == 10)
    #expect(shell.errors.contains("systemd-run --pty -p LoadCredential="), "\(shell.errors)")
    // As it says there.
    let folder = tool.path("credentials")
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    try tool.write(
      Data(repeating: 5, count: 32).base64EncodedString() + "\n", to: "credentials/tool-key")
    tool.environment["CREDENTIALS_DIRECTORY"] = folder
    let added = try tool.run(add)
    #expect(added.code == 0, "\(added.errors)")
    #expect(try tool.run("get", "A", "--credential", "tool-key").text == "x")
    #expect(
      try tool.run("slots", "remove", "1", "--yes", "--credential", "tool-key").code == 0)
    #expect(try tool.run("slots").lines == ["2  systemd credential tool-key"])
    #expect(try tool.run("get", "A", "--credential", "tool-key").text == "x")
  }
}
