import Foundation
import StorageCore
import Testing
import VaultBackend

/// What doctor says of a machine.
struct DoctorTests {
  private func states(_ result: Tool.Result) throws -> [String: String] {
    let findings = try #require(try result.json()["findings"] as? [[String: Any]])
    return Dictionary(
      findings.map { ($0["subject"] as? String ?? "", $0["state"] as? String ?? "") },
      uniquingKeysWith: { first, _ in first })
  }

  @Test func aHealthyVaultIsGood() throws {
    let tool = try Tool()
    let result = try tool.run("doctor", "--json")
    #expect(result.code == 0)
    let states = try states(result)
    #expect(states["vault"] == "good")
    #expect(states["key file"] == "good")
    #expect(states["credential securestorage-key"] == "absent")
    #expect(states["defaults"] == "absent")
  }

  @Test func theSQLiteInUseIsNamed() throws {
    let tool = try Tool(hasVault: false)
    let findings = try #require(
      try tool.run("doctor", "--json").json()["findings"] as? [[String: Any]])
    let finding = try #require(findings.first { $0["subject"] as? String == "SQLite" })
    #expect(finding["state"] as? String == "good")
    let message = try #require(finding["message"] as? String)
    #expect(try #/^version 3\.\d+\.\d+/#.prefixMatch(in: message) != nil)
    // Said of the versions that sqlite.org names, and of no others.
    let isOfThose = SQLiteVersion.current.hasLogResetFault
    #expect(message.contains("walresetbug") == isOfThose)
    #expect(try tool.run("doctor").text.contains(message))
  }

  @Test func aSlotThatCanBeGuessedIsSaid() throws {
    let tool = try Tool(hasVault: false)
    let derivation = PassphraseDerivation.scrypt(cost: 16).withoutFloor
    try VaultStorage(
      at: URL(fileURLWithPath: tool.vault),
      keySource: .passphrase("open sesame", derivation: derivation)
    ).save("value", forKey: "TOKEN")
    let pass = try tool.write("open sesame", to: "pass")
    let weakness = "scrypt with N = 16, r = 8, p = 1 is weaker than the minimum"

    let listed = try tool.run("slots", "list")
    #expect(listed.code == 0)
    #expect(listed.errors.contains("slot 1: \(weakness)"), "\(listed.errors)")
    let slots = try #require(
      try tool.run("slots", "list", "--json").json()["slots"] as? [[String: Any]])
    #expect((slots.first?["weakness"] as? String)?.hasPrefix(weakness) == true)

    let doctor = try tool.run("doctor", "--json", "--passphrase-file", pass)
    #expect(doctor.code == 2)
    #expect(try states(doctor)["vault slot 1"] == "bad")
    let text = try tool.run("doctor", "--passphrase-file", pass)
    #expect(text.text.contains(weakness) && text.text.contains("replace it with slots change"))

    // What it says to do mends it.
    let new = try tool.write("a much longer one of several words", to: "new")
    let changed = try tool.run(
      "passphrase", "--passphrase-file", pass, "--new-passphrase-file", new, "--yes")
    #expect(changed.code == 0, "\(changed.errors)")
    #expect(!(try tool.run("slots", "list").errors.contains("takes less")))
    let value = try tool.run("get", "TOKEN", "--passphrase-file", new)
    #expect(value.text == "value", "\(value.errors)")
  }

  @Test func withoutAVaultItTellsOfTheMachine() throws {
    let tool = try Tool(hasVault: false)
    tool.environment["SECURESTORE_APP"] = nil
    let result = try tool.run("doctor")
    #expect(result.code == 0)
    #expect(result.text.contains("CREDENTIALS_DIRECTORY is not set"))
  }

  @Test func whatIsWrongWithAKeyFileIsSaid() throws {
    let tool = try Tool()
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: tool.keyFile)
    let readable = try tool.run("doctor")
    #expect(readable.code == 2)
    #expect(readable.text.contains("chmod 600"))
    try FileManager.default.removeItem(atPath: tool.keyFile)
    let gone = try tool.run("doctor")
    #expect(gone.code == 2)
    #expect(gone.text.contains("existed once and is gone"))
    #expect(!FileManager.default.fileExists(atPath: tool.keyFile))
  }
}
