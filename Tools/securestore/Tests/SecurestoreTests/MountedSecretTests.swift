import Foundation
import Testing

/// Vaults of containers: a key that is mounted, and a folder that a group may write to.
struct MountedSecretTests {
  private let manager = FileManager.default

  /// The vault's key as Kubernetes mounts it, and its path.
  private func mount(_ tool: Tool, as name: String = "master.key") throws -> String {
    let folder = tool.path("secrets")
    try manager.createDirectory(atPath: folder + "/..1", withIntermediateDirectories: true)
    try manager.copyItem(atPath: tool.keyFile, toPath: folder + "/..1/" + name)
    try manager.setAttributes([.posixPermissions: 0o444], ofItemAtPath: folder + "/..1/" + name)
    try manager.createSymbolicLink(atPath: folder + "/..data", withDestinationPath: "..1")
    try manager.createSymbolicLink(
      atPath: folder + "/" + name, withDestinationPath: "..data/" + name)
    return folder + "/" + name
  }

  /// Gives another user the group's rights for a folder, with an access list: acl(5).
  private func letAnotherUserWrite(to path: String) throws {
    let script = """
      import os, struct, sys
      entries = [(1, 7, -1), (2, 7, 65533), (4, 7, -1), (16, 7, -1), (32, 5, -1)]
      os.setxattr(sys.argv[1], "system.posix_acl_access", struct.pack("<I", 2) + b"".join(
        struct.pack("<HHI", tag, rights, who & 0xFFFFFFFF) for tag, rights, who in entries))
      """
    let python = try Process.run(
      URL(fileURLWithPath: "/usr/bin/env"), arguments: ["python3", "-c", script, path])
    python.waitUntilExit()
    #expect(python.terminationStatus == 0)
  }

  @Test func aVaultOpensWithItsKeyMounted() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "value")
    let secret = try mount(tool)
    let vault = ["--vault", tool.vault]
    #expect(try tool.run(["get", "A", "--key-file", secret] + vault).code == 77)
    #expect(try tool.run(["get", "A", "--mounted-secret", secret] + vault).lines == ["value"])
    #expect(
      try tool.run(["set", "B", "--mounted-secret", secret] + vault, input: Data("b".utf8)).code
        == 0)
    #expect(
      try tool.run(["get", "A", "--mounted-secret", secret, "--key-file", secret] + vault).code
        == 64)
    #expect(try manager.contentsOfDirectory(atPath: tool.path("secrets")).count == 3)
    tool.environment["SECURESTORE_APP"] = nil
    tool.environment["SECURESTORE_VAULT"] = tool.vault
    tool.environment["SECURESTORE_MOUNTED_SECRET"] = secret
    #expect(try tool.run("get", "A").lines == ["value"])
    tool.environment["SECURESTORE_KEY_FILE"] = tool.keyFile
    #expect(try tool.run("get", "A").code == 64)
  }

  @Test func aSecretThatIsNotMountedIsNotMade() throws {
    let tool = try Tool(hasVault: false)
    let made = try tool.run(
      "init", "--vault", tool.path("new.vault"), "--mounted-secret", tool.path("absent"))
    #expect(made.code != 0 && made.errors.contains("absent does not exist"))
    #expect(!manager.fileExists(atPath: tool.path("new.vault")))
    #expect(!manager.fileExists(atPath: tool.path("absent")))
  }

  @Test func aGroupsFolderIsTakenWhereTheOptionSaysSo() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "value")
    // Below a folder that nobody else can enter, or for a group of this user alone, it would be taken.
    for path in [tool.folder.path, tool.path(".local"), tool.path(".local/share")] {
      try manager.setAttributes([.posixPermissions: 0o711], ofItemAtPath: path)
    }
    try manager.setAttributes([.posixPermissions: 0o2775], ofItemAtPath: tool.data)
    try letAnotherUserWrite(to: tool.data)
    let secret = try mount(tool)
    let place = ["--vault", tool.vault, "--mounted-secret", secret]
    #expect(try tool.run(["get", "A"] + place).code == 77)
    #expect(try tool.run(["get", "A", "--group-folder"] + place).lines == ["value"])
  }
}
