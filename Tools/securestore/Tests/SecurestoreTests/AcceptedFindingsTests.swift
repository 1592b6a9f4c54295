import CryptoCore
import Foundation
import StorageCore
import Testing
import VaultBackend

/// What `--yes` and `--skip-damaged` do not accept unless it is named.
struct AcceptedFindingsTests {
  private let manager = FileManager.default

  private func records(of path: String, in tool: Tool) throws -> [NameHash: [UInt8]] {
    let copy = URL(fileURLWithPath: tool.path("\(UUID().uuidString).vault"))
    try Data(contentsOf: URL(fileURLWithPath: path)).write(to: copy)
    try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy.path)
    let delegate = VaultDelegate(at: copy, access: .readOnly)
    var records: [NameHash: [UInt8]] = [:]
    for name in try delegate.names() { records[name] = try delegate.record(for: name) }
    return records
  }

  /// Has `change` give a value of the same length, and puts the bytes of the one before back.
  private func rollBack(_ path: String, in tool: Tool, _ change: () throws -> Void) throws {
    let old = try records(of: path, in: tool)
    try change()
    let new = try records(of: path, in: tool)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    for (name, record) in old where new[name] != record {
      let present = try #require(new[name])
      let range = try #require(bytes.range(of: Data(present)))
      bytes.replaceSubrange(range, with: record)
    }
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  @Test func anOldValueIsRepairedOnlyWhereItIsNamed() throws {
    let tool = try Tool()
    #expect(try tool.run("set", "A", input: "old").code == 0)
    #expect(try tool.run("compact").code == 0)
    try rollBack(tool.vault, in: tool) { () throws in
      #expect(try tool.run("set", "A", input: "new").code == 0)
      #expect(try tool.run("compact").code == 0)
    }
    let verified = try tool.run("verify", "--json").json()
    #expect(verified["unproven"] as? Int == 1 && verified["unprovenNames"] as? [String] == ["A"])
    let refused = try tool.run("repair", "--yes")
    #expect(refused.code == 2 && refused.errors.contains("--accept rolledBackRecord"))
    #expect(try tool.run("repair", "--yes", "--accept", "addedRecord").code == 2)
    #expect(try tool.run("repair", "--yes", "--accept", "everything").code == 64)
    #expect(try tool.run("verify").code == 2)
    let repaired = try tool.run("repair", "--yes", "--accept", "rolledBackRecord", "--json").json()
    #expect(repaired["unproven"] as? Int == 1 && repaired["unprovenNames"] as? [String] == ["A"])
    #expect(try tool.run("verify").code == 0)
    #expect(try tool.run("get", "A").text == "old")
  }

  @Test func anOldValueIsCopiedWithoutTheDamagedOnesOnlyWhereItIsNamed() throws {
    let tool = try Tool()
    #expect(try tool.run("files", "init").code == 0)
    let index = tool.data + "/files/index.vault"
    #expect(try tool.run("files", "put", "a", input: "old").code == 0)
    #expect(try tool.run("files", "compact").code == 0)
    try rollBack(index, in: tool) { () throws in
      #expect(try tool.run("files", "put", "a", input: "new").code == 0)
      #expect(try tool.run("files", "compact").code == 0)
    }
    let copy = tool.path("copy")
    let refused = try tool.run("files", "backup", copy, "--skip-damaged")
    #expect(refused.code == 12 && refused.errors.contains("--accept rolledBackRecord"))
    #expect(refused.errors.contains("rolledBackRecord: at least one record"))
    #expect(!manager.fileExists(atPath: copy))
    #expect(try tool.run("files", "backup", copy, "--accept", "rolledBackRecord").code == 64)
    let backup = try tool.run(
      "files", "backup", copy, "--skip-damaged", "--accept", "rolledBackRecord", "--json")
    #expect(backup.code == 0, "\(backup.errors)")
    let accepted = try backup.json()["accepted"] as? [[String: Any]]
    #expect(accepted?.map { $0["kind"] as? String } == ["rolledBackRecord"])
    #expect(try backup.json()["unprovenNames"] as? [String] == ["a"])
    #expect(try tool.run("files", "repair", "--yes").code == 2)
    #expect(try tool.run("files", "restore", copy, "--yes").code == 0)
    #expect(try tool.run("files", "verify").code == 0)
    #expect(try tool.run("files", "get", "a").text == "old")
  }
}
