import Foundation
import StorageCore
import TestSupport
import Testing
import VaultBackend

@testable import securestore

/// How the command line is read, and what is said of one that is wrong.
struct CommandLineTests {
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
