import Foundation
import KeyringTesting
import Testing

@testable import KeyringBackend

/// The sealed values that applications keep in the keyring.
struct KeychainTests {
  @Test func theirValuesMoveIntoAVault() throws {
    let session = try Session()
    let tool = try session.tool(hasVault: true)
    let name = "test.\(UUID().uuidString)"
    let storage = session.keychain(name)
    try storage.save("hunter2", forKey: "password")
    try storage.save(7, forKey: "count")
    let copied = try tool.run("migrate", "--from-keychain", name, "--keep", "--json")
    #expect(copied.code == 0, "\(copied.errors)")
    #expect(try copied.json()["copied"] as? Int == 2)
    #expect(try tool.run("get", "password").text == "hunter2")
    #expect(try tool.run("get", "count").text == "7")
    #expect(try storage.load(String.self, forKey: "password") == "hunter2")
    let moved = try tool.run("migrate", "--from-keychain", name, "--json")
    #expect(try moved.json()["removed"] as? Int == 2)
    #expect(try storage.keys().isEmpty)
  }

  @Test func itsOwnKeyIsAskedForWhereItIsAPassphrase() throws {
    let session = try Session()
    let tool = try session.tool(hasVault: true)
    let name = "test.\(UUID().uuidString)"
    let storage = session.keychain(name, keySource: .passphrase("correct horse"))
    try storage.save("hunter2", forKey: "password")
    let refused = try tool.run("migrate", "--from-keychain", name)
    #expect(refused.code == 10)
    #expect(refused.errors.contains("--from-passphrase"))
    let moved = try tool.run(
      "migrate", "--from-keychain", name, "--from-passphrase-fd", "0", input: "correct horse\n")
    #expect(moved.code == 0, "\(moved.errors)")
    #expect(try tool.run("get", "password").text == "hunter2")
  }

  @Test func eachFailureHasItsExitCode() throws {
    let none = try Tool()
    #expect(try none.run("migrate", "--from-keychain", "x").code == 20)
    let session = try Session()
    let tool = try session.tool(hasVault: true)
    #expect(try tool.run("migrate", "--from-keychain", "x").code == 66)
    #expect(try tool.run("migrate", "--from-keychain", "a/b").code == 64)
    session.keyring.kill()
    #expect(try tool.run("migrate", "--from-keychain", "x").code == 21)
    let without = try Session(hasDefaultCollection: false).tool(hasVault: true)
    #expect(try without.run("migrate", "--from-keychain", "x").code == 22)
  }

  @Test func doctorCountsThem() throws {
    let session = try Session()
    let tool = try session.tool(hasVault: true)
    let storage = session.keychain("com.example.tool")
    try storage.save("hunter2", forKey: "password")
    #expect(try tool.doctor()["keychain"] == "good")
    #expect(try tool.run("doctor").text.contains("com.example.tool: opens; 1 value"))
  }
}
