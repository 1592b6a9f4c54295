import Foundation
import TestSupport
import Testing
import VaultBackend

/// The family of property wrappers, over a vault of one's own and over the standard one.
@Suite struct WrapperTests {
  private let vault = TemporaryVault()

  @Test func propertiesOfTheStandardVaultAreKeptInTheApplicationsFolder() throws {
    let environment: [String: String?] = [
      "XDG_DATA_HOME": vault.file("data").path, "HOME": vault.folder.path,
      "CREDENTIALS_DIRECTORY": nil, "STATE_DIRECTORY": nil,
    ]
    func use(_ value: String) throws -> [String] {
      try helper.run("standard", "org.example.tool", value, environment: environment)
    }
    let end = ["stored admin guest launches region token user"]
    #expect(
      try use("one") == [
        "nil eu 0 [] root guest", "one one-region 1 [\"one\"] one-admin one-guest",
      ] + end + ["token one", "sound"])
    #expect(
      try use("two") == [
        "one one-region 1 [\"one\"] one-admin one-guest",
        "two two-region 2 [\"two\"] two-admin two-guest",
      ] + end + ["token two", "sound"])
    let folder = vault.file("data/org.example.tool")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.contains("default.vault") && names.contains("master.key"))
    let key = KeySource.file(folder.appendingPathComponent("master.key"))
    let storage = VaultStorage(at: folder.appendingPathComponent("default.vault"), keySource: key)
    #expect(try storage.load(String.self, forKey: "token") == "two")
  }

  @Test func underSystemdTheStandardVaultIsInTheStateFolderWithTheKeyOfItsCredential() throws {
    for name in ["state", "credentials"] {
      try FileManager.default.createDirectory(
        at: vault.file(name), withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    }
    let key = Data(repeating: 3, count: 32)
    try vault.put(Array(key.base64EncodedString().utf8), "credentials/securestorage-key")
    let environment: [String: String?] = [
      "STATE_DIRECTORY": vault.file("state").path + ":/nowhere", "HOME": nil,
      "CREDENTIALS_DIRECTORY": vault.file("credentials").path,
    ]
    let said = try helper.run("standard", "org.example.tool", "one", environment: environment)
    #expect(said.last == "sound", "\(said)")
    #expect(vault.entries == ["credentials", "state"])
    let names = try FileManager.default.contentsOfDirectory(atPath: vault.file("state").path)
    #expect(names.contains("default.vault") && !names.contains("master.key"))
  }

  @Test func anApplicationIDThatCantNameAFolderIsAnErrorOfEveryProperty() throws {
    let environment: [String: String?] = [
      "XDG_DATA_HOME": vault.file("data").path, "CREDENTIALS_DIRECTORY": nil,
      "STATE_DIRECTORY": nil,
    ]
    let said = try helper.run("standard", "../other", "one", environment: environment)
    #expect(said.last == "error invalid")
    #expect(said.contains("said invalid"))
    #expect(!said.contains { $0.hasPrefix("one") })
    #expect(vault.entries == [])
  }
}
