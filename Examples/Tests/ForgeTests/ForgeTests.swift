import DefaultsBackend
import StorageTesting
import Testing
import VaultBackend

@testable import Forge

/// Each test has a vault and settings of its own, in memory.
@Suite(.storage()) struct ForgeTests {
  private func run(_ command: String, token: String? = nil) throws -> String {
    try Forge.run(command.split(separator: " ").map(String.init)) { token }
  }

  private func mistake(_ command: String, token: String? = nil) -> String? {
    do {
      _ = try run(command, token: token)
      return nil
    } catch { return (error as? Mistake)?.description }
  }

  @Test func theNextCommandKnowsWhoIsSignedIn() throws {
    #expect(try run("auth status") == "nobody is signed in")
    _ = try run("auth login code.example.org ada", token: "gho_5f1c8e")
    _ = try run("auth login git.example.net bob", token: "gho_77")
    let status = try run("auth status")
    #expect(status.split(separator: "\n").count == 2 && !status.contains("gho_"))
    #expect(
      try run("clone code.example.org me/app")
        == "git clone https://ada@code.example.org/me/app.git")
    _ = try run("auth logout code.example.org")
    #expect(try run("auth status") == "git.example.net: bob, a token of 6 characters")
  }

  @Test(arguments: [
    "auth logout code.example.org", "clone code.example.org me/app", "auth", "config set x 1",
    "config set pager_width wide", "config set pager_width 0", "config set git_protocol ftp",
    "config set prompt yes", "auth login code.example.org ada", "",
  ])
  func aMistakeIsSaidAndStoresNothing(_ command: String) throws {
    #expect(mistake(command) != nil)
    #expect(try VaultStorage.standard.keys().isEmpty)
    #expect(try UserDefaultsStorage.standard.keys().isEmpty)
  }

  @Test func aSettingIsChosenAndListed() throws {
    _ = try run("config set git_protocol ssh")
    _ = try run("config set pager_width 120")
    _ = try run("config set prompt disabled")
    #expect(
      try run("config list") == "git_protocol=ssh\neditor=vi\npager_width=120\nprompt=disabled")
    _ = try run("auth login code.example.org ada", token: "t")
    #expect(try run("clone code.example.org me/app").contains("git@code.example.org:me/app.git"))
  }

  @Test func tenThatSignInAtOnceAreAllSignedIn() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<10 {
        group.addTask {
          _ = try Forge.run(["auth", "login", "\(number).example.org", "ada"]) { "t" }
        }
      }
      try await group.waitForAll()
    }
    #expect(try Hosts().all().count == 10)
  }

  @Test(arguments: [
    StorageError.Code.keyUnavailable, .wrongKey, .damaged, .denied, .busy, .full, .io,
  ])
  func anErrorOfTheStorageIsOneLine(_ code: StorageError.Code) {
    let said = words(for: StorageError(code, "the message", key: "hosts", path: "/p"))
    #expect(!said.isEmpty && !said.contains("\n"))
  }
}
