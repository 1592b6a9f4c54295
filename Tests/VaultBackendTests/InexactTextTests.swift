import Foundation
import StorageCore
import TestSupport
import Testing
import VaultBackend

/// Texts of the environment that are not UTF-8 are errors, and never another text that looks like them.
@Suite struct InexactTextTests {
  private let vault = TemporaryVault()
  private let helper = HelperProgram("VaultTestChild")

  @Test(arguments: ["XDG_DATA_HOME", "HOME", "STATE_DIRECTORY", "CREDENTIALS_DIRECTORY"])
  func aFolderThatCantBeSaidIsRefusedAndNoneIsMade(_ variable: String) throws {
    // The folder that the bytes would become, with a store that opens: nobody may get its values.
    var environment: [String: String?] = [
      "XDG_DATA_HOME": nil, "STATE_DIRECTORY": nil, "CREDENTIALS_DIRECTORY": nil,
      "HOME": vault.file("home").path, "BASE": vault.folder.path,
    ]
    environment[variable] = vault.file("a\u{FFFD}").path
    if variable != "CREDENTIALS_DIRECTORY" {
      let there = try helper.run("standard", "org.example.tool", "secret", environment: environment)
      #expect(there.last == "sound", "\(there)")
    }
    let before = vault.entries
    environment[variable] = .some(nil)
    let said = try helper.run(
      "standard", "org.example.tool", "one",
      prefix: ["sh", "-c", "export \(variable)=\"$BASE/$(printf 'a\\361')\"; exec \"$@\"", "sh"],
      environment: environment)
    #expect(said.contains("said invalid") && said.last != "sound", "\(said)")
    #expect(!said.contains { $0.contains("secret") })
    #expect(vault.entries == before)
  }
}
