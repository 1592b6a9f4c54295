import Foundation
import TestSupport
import Testing
import VaultBackend

/// What a vault does where the system refuses: each refusal is one error, and nothing is left half
/// made.
@Suite struct RefusingMachineTests {
  private let vault = TemporaryVault()

  // MARK: - Space

  @Test(.enabled(if: Machine.canMount, "needs the right to mount in a namespace"))
  func aProgramThatStartsOnAFullDiskReadsRemovesValuesAndThenWrites() throws {
    let (folder, path) = (vault.folder.path, vault.path)
    let lines = try helper.run(
      script: """
        mount -t tmpfs -o size=400k,mode=0700 tmpfs \(folder) || exit 1
        "$0" save \(path) key value; "$0" fill \(path) 3 20000
        cat /dev/zero > \(folder)/filler 2>/dev/null
        "$0" load \(path) key; "$0" load-read-only \(path) key; "$0" save \(path) key other
        "$0" delete \(path) fill-0; "$0" delete \(path) fill-1
        "$0" load-data \(path) fill-0; "$0" load-data \(path) fill-2
        "$0" save \(path) key other; "$0" load \(path) key; "$0" verify \(path)
        "$0" remove-all \(path); "$0" verify \(path)
        """)
    #expect(
      lines == [
        "saved", "filled", "value", "value", "error full", "deleted", "deleted", "-1", "20000",
        "saved", "other", "sound 2", "removed", "sound 0",
      ])
  }

  // MARK: - Limits

  /// KiB of `ulimit -f`: less than the empty vault, less than the index of the log, and a few
  /// values.
  @Test(arguments: [0, 8, 16, 40, 100])
  func aWriteBeyondTheFileSizeLimitIsAnErrorAndNoSignal(_ limit: Int) throws {
    let script = """
      ulimit -f \(limit)
      "$0" save \(vault.path) key value; "$0" fill \(vault.path) 20 20000; "$0" verify \(vault.path)
      """
    let lines = try Child.run(["bash", "-c", script, helper.path])
    #expect(lines.count == 3)
    #expect(lines.first == (limit < 40 ? "error full" : "saved"))
    #expect(lines.dropFirst().first == "error full")
    guard limit >= 16 else { return #expect(vault.entries == []) }
    #expect(lines.last?.hasPrefix("sound ") == true)
    // Without the limit it goes on from there.
    #expect(try helper.run("save", vault.path, "key", "after") == ["saved"])
    #expect(try helper.run("load", vault.path, "key") == ["after"])
  }

  @Test func theProgramsOwnHandlingOfTheSignalIsLeftAlone() throws {
    // The shell's trap would be the program's handler; a program that ignores the signal goes on
    // ignoring it.
    let script = """
      trap '' XFSZ; ulimit -f 40
      "$0" fill \(vault.path) 20 20000; "$0" verify \(vault.path)
      """
    let lines = try Child.run(["bash", "-c", script, helper.path])
    #expect(lines.first == "error full" && lines.last?.hasPrefix("sound ") == true)
  }

  @Test(
    .enabled(if: Machine.hasStrace, "needs strace and the right to trace"),
    arguments: ["ENOLCK", "EOPNOTSUPP", "ENOSYS"])
  func aFileSystemWithoutLocksIsSaidAtOnce(_ error: String) throws {
    try vault.storage().save("value", forKey: "key")
    let start = ContinuousClock.now
    let prefix = SystemFault("fcntl", error: error).prefix()
    #expect(
      try helper.run("save", vault.path, "key", "other", prefix: prefix) == ["error unsupported"])
    #expect(try helper.run("load", vault.path, "key", prefix: prefix) == ["error unsupported"])
    // The child would wait for a lock for five minutes.
    #expect(start.duration(to: .now) < .seconds(60))
    #expect(try vault.storage().load(String.self, forKey: "key") == "value")
  }

  @Test(.enabled(if: Machine.canMount, "needs the right to mount in a namespace"))
  func nothingNeedsAFolderForTemporaryFiles() throws {
    let (folder, path) = (vault.folder.path, "/mnt/test.vault")
    // The program may itself be below one of these folders.
    let lines = try helper.run(
      script: """
        mount --bind \(folder) /mnt && cp "$0" /mnt/program || exit 1
        for place in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o ro tmpfs $place || exit 1; done
        unset TMPDIR SQLITE_TMPDIR XDG_RUNTIME_DIR; cd /proc; p=/mnt/program
        $p fill \(path) 2 300000; $p fill \(path) 2 400000; $p fill \(path) 2 100
        $p fill \(path) 2 300000; $p delete \(path) fill-0; $p compact \(path)
        $p rotate-data-key \(path); $p backup \(path) \(path).copy; $p verify \(path)
        """)
    #expect(
      lines == [
        "filled", "filled", "filled", "filled", "deleted", "compacted", "rotated", "copied",
        "sound 1",
      ])
  }

  // MARK: - Paths

  private func storage(_ path: String) -> VaultStorage {
    VaultStorage(at: URL(fileURLWithPath: path), keySource: .key(TemporaryVault.key))
  }

  /// A path of so many bytes below the folder, with a name of so many.
  private func path(_ count: Int, name: Int) -> String {
    var path = vault.folder.path
    while path.utf8.count + 1 + name + 1 < count {
      let rest = count - path.utf8.count - name - 2
      path += "/" + String(repeating: "d", count: min(rest, 200))
    }
    return path + "/" + String(repeating: "n", count: count - path.utf8.count - 1)
  }

  @Test(arguments: [(505, 60), (511, 60), (512, 5), (900, 60), (400, 248), (400, 255)])
  func aPathThatIsTooLongMakesNothing(_ count: Int, _ name: Int) throws {
    let path = path(count, name: name)
    #expect(path.utf8.count == count)
    let storage = storage(path)
    #expect(code { try storage.save(1, forKey: "key") } == .invalid)
    #expect(code { _ = try storage.load(Int.self, forKey: "key") } == .invalid)
    #expect(vault.entries == [])
    try self.storage(self.path(504, name: 60)).save(1, forKey: "key")
  }

  // MARK: - Root

  /// A home folder of another user, in which root runs a program.
  private func home() throws -> String {
    let home = vault.file("home").path
    try FileManager.default.createDirectory(
      atPath: home, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
    #expect(unsafe chown(home, Machine.otherUser, Machine.otherUser) == 0)
    return home
  }

  @Test(.enabled(if: geteuid() == 0, "needs root"))
  func rootMakesNothingInAnotherUsersHome() throws {
    let home = try home()
    for path in ["/v", "/.local/share/app/v"] {
      #expect(code { try storage(home + path).save(1, forKey: "key") } == .denied)
      #expect(code { try storage(home + path).createFolder() } == .denied)
      #expect(
        code { try storage(vault.path).backup(to: URL(fileURLWithPath: home + path)) } != nil)
    }
    // The key is asked for before there is a vault.
    let file = URL(fileURLWithPath: home + "/keys/key")
    let withKeyFile = VaultStorage(at: vault.url, keySource: .file(file))
    #expect(code { try withKeyFile.save(1, forKey: "key") } == .denied)
    try storage(vault.path).save(1, forKey: "key")
    #expect(
      code { try storage(vault.path).backup(to: URL(fileURLWithPath: home + "/b/v")) } == .denied)
    #expect(try FileManager.default.contentsOfDirectory(atPath: home) == [])
  }

  @Test(.enabled(if: geteuid() == 0, "needs root"))
  func rootMakesAKeyFileWhereEverybodyMay() throws {
    let shared = try home()
    #expect(unsafe chmod(shared, 0o1777) == 0)
    let file = URL(fileURLWithPath: shared + "/keys/key")
    let storage = { VaultStorage(at: vault.url, keySource: .file(file)) }
    // Its owner could put another folder in the place of one that root makes there.
    #expect(code { try storage().save(1, forKey: "key") } == .denied)
    #expect(try FileManager.default.contentsOfDirectory(atPath: shared) == [])
    #expect(unsafe chown(shared, 0, 0) == 0)
    try storage().save(1, forKey: "key")
    #expect(FileManager.default.fileExists(atPath: file.path))
  }

  @Test func theFolderAloneIsMadeForAProgramThatLocksIt() throws {
    let path = vault.folder.path + "/a/b/v"
    try storage(path).createFolder()
    #expect(vault.entries == ["a"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: vault.folder.path + "/a/b") == [])
    let reader = VaultStorage(
      at: URL(fileURLWithPath: vault.folder.path + "/c/v"), keySource: .key(TemporaryVault.key),
      access: .readOnly)
    #expect(code { try reader.createFolder() } == .readOnly)
    #expect(vault.entries == ["a"])
  }
}
