import Foundation
import Testing

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
    #expect(gone.text.contains("was there once and is gone"))
    #expect(!FileManager.default.fileExists(atPath: tool.keyFile))
  }
}
