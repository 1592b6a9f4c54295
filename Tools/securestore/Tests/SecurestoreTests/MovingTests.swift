import Foundation
import Testing

/// A backup and a recovery key are enough for a program on another machine.
struct MovingTests {
  private let manager = FileManager.default

  /// A tool of the old machine, its backup, and its recovery key.
  private func old(_ backup: [String]) throws -> (tool: Tool, recovery: String) {
    let tool = try Tool()
    #expect(try tool.run("set", "A", input: "x").code == 0)
    let recovery = try tool.run("recovery", "--quiet").text
    #expect(try tool.run("backup", "moved.vault").code == 0)
    return (tool, recovery)
  }

  @Test(arguments: [false, true]) func theProgramOpensWhatTheRecoveryKeyRestored(
    _ hasKey: Bool
  ) throws {
    let (old, recovery) = try old([])
    let new = try Tool(hasVault: false)
    if hasKey {
      #expect(try new.run("init").code == 0)
      #expect(try new.run("reset", "--yes").code == 0)
    }
    let key = try? Data(contentsOf: URL(fileURLWithPath: new.keyFile))
    let restored = try new.run(
      "restore", old.path("moved.vault"), "--recovery-fd", "0", input: recovery)
    #expect(restored.code == 0, "\(restored.errors)")
    #expect(restored.errors.contains("opens now with this machine's key"))
    #expect(try new.run("get", "A").text == "x")
    if let key { #expect(try Data(contentsOf: URL(fileURLWithPath: new.keyFile)) == key) }
    // The old machine's program goes on.
    #expect(try old.run("get", "A").text == "x")
  }

  @Test func aKeyThatIsGoneIsNotMadeAnew() throws {
    let (old, recovery) = try old([])
    let new = try Tool()
    try manager.removeItem(atPath: new.keyFile)
    try manager.removeItem(atPath: new.vault)
    let refused = try new.run(
      "restore", old.path("moved.vault"), "--recovery-fd", "0", input: recovery)
    #expect(refused.code == 10, "\(refused.errors)")
    #expect(!manager.fileExists(atPath: new.keyFile))
    #expect(try new.run("get", "A", "--recovery-fd", "0", input: recovery).text == "x")
  }

  @Test func anotherKeyIsAddedWhereItIsNamed() throws {
    let (old, recovery) = try old([])
    let new = try Tool(hasVault: false)
    new.environment["SECURESTORE_APP"] = nil
    let restored = try new.run(
      "restore", old.path("moved.vault"), "--vault", "a.vault", "--recovery-fd", "0",
      "--new-key-file", "k/a.key", "--json", input: recovery)
    #expect(restored.code == 0, "\(restored.errors)")
    let slot = try restored.json()["addedSlot"] as? [String: Any]
    #expect(slot?["identifier"] as? String == "a.key")
    #expect(try new.run("get", "A", "--vault", "a.vault", "--key-file", "k/a.key").text == "x")
  }

  @Test func aProgramWithAPassphraseGetsNoKeyFile() throws {
    let old = try Tool(hasVault: false)
    try old.write("orbit-velvet-canyon\n", to: "pass")
    #expect(try old.run("init", "--passphrase-file", "pass").code == 0)
    let recovery = try old.run("recovery", "--quiet", "--passphrase-file", "pass").text
    #expect(try old.run("backup", "moved.vault").code == 0)
    let new = try Tool(hasVault: false)
    let restored = try new.run(
      "restore", old.path("moved.vault"), "--recovery-fd", "0", input: recovery)
    #expect(restored.code == 0, "\(restored.errors)")
    #expect(restored.errors.contains("programs open it with passphrase"))
    #expect(!manager.fileExists(atPath: new.keyFile))
  }

  @Test func aFolderMovesInTheSameWay() throws {
    let old = try Tool(hasVault: false)
    #expect(try old.run("files", "init").code == 0)
    try old.write(String(repeating: "x", count: 100_000), to: "large")
    #expect(try old.run("files", "put", "large", "large").code == 0)
    let index = old.data + "/files/index.vault"
    let recovery = try old.run("recovery", "--quiet", "--vault", index, "--app", "com.example.tool")
    #expect(recovery.code == 0, "\(recovery.errors)")
    #expect(try old.run("files", "backup", old.path("moved")).code == 0)
    let new = try Tool(hasVault: false)
    let restored = try new.run(
      "files", "restore", old.path("moved"), "--recovery-fd", "0", input: recovery.text)
    #expect(restored.code == 0, "\(restored.errors)")
    #expect(try new.run("files", "get", "large").text.count == 100_000)
  }
}
