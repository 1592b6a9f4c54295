import DefaultsBackend
import Foundation
import KeyringTesting
import StorageCore
import TestSupport
import Testing
import VaultBackend

@testable import securestore

/// An exit code says what happened.
struct ExitStatusTests {
  typealias Status = securestore.ExitStatus

  private static func run(_ command: String...) throws -> Tool.Result { try Tool().run(command) }

  /// Runs a command line of the shell, in which the program is `$0`, on a vault with the value A.
  private static func shell(_ script: String) throws -> Tool.Result {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "text")
    return try tool.shell(script)
  }

  /// Runs a command in a session, after `prepare`.
  private static func inSession(
    _ command: [String], hasDefaultCollection: Bool = true, after prepare: (Session) throws -> Void
  ) throws -> Tool.Result {
    let session = try Session(hasDefaultCollection: hasDefaultCollection)
    let tool = try session.tool(hasVault: true)
    for account in ["ada", "bob"] where hasDefaultCollection {
      _ = try tool.run("keyring", "set", "svc", account, input: "one")
    }
    try prepare(session)
    return try tool.run(command)
  }

  /// Runs a command that ends with a code; nil for a fault in the program, which no command has.
  private static func command(endingWith status: Status) throws -> Tool.Result? {
    switch status {
    case .success: try run("list")
    case .absent: try run("get", "absent")
    case .unsound: try run("verify", "--expect", "absent")
    case .exists: try run("init")
    case .cancelled: try dismissed()
    case .keyUnavailable: try shell("rm \"$HOME\"/.local/share/*/master.key; exec \"$0\" list")
    case .wrongKey:
      try shell(
        "head -c 32 /dev/zero | base64 >\"$HOME\"/.local/share/*/master.key; exec \"$0\" list")
    case .damaged: try shell("printf x >\"$HOME\"/.local/share/*/default.vault; exec \"$0\" list")
    case .typeMismatch: try shell("printf 1 | \"$0\" set --type int B; echo x | \"$0\" set B")
    case .locked: try inSession(["keyring", "get", "svc", "ada"]) { try $0.keyring.lock() }
    case .outcomeUnknown: try unsynced()
    case .full: try shell("exec \"$0\" export --stdout >/dev/full")
    case .readOnly: try readOnly()
    case .unsupported:
      try shell("echo x | \"$0\" set 'no variable'; exec \"$0\" export --stdout --format dotenv")
    case .noBus: try run("keyring", "list")
    case .noService: try inSession(["keyring", "list"]) { $0.keyring.kill() }
    case .noCollection:
      try inSession(["migrate", "--from-keychain", "x"], hasDefaultCollection: false) { _ in }
    case .duplicate: try inSession(["keyring", "get", "svc"]) { _ in }
    case .conflict: try lockingOut()
    case .usage: try run("list", "--nonsense")
    case .malformedInput: try run("set", "A")
    case .noInput: try run("import", "absent.json")
    case .unavailable: try run("list", "--vault", "absent.vault")
    case .software: nil
    case .io: try shell("exec \"$0\" get A >&-")
    case .busy:
      try shell("mkdir -m 700 new; exec flock new \"$0\" init --vault new/v --key-file k --wait 0")
    case .denied: try shell("chmod 644 \"$HOME\"/.local/share/*/master.key; exec \"$0\" list")
    case .notExecutable: try shell("exec \"$0\" run --all -- /")
    case .notFound: try run("run", "--all", "--", "no-such-program")
    }
  }

  private static func dismissed() throws -> Tool.Result {
    let bus = try PrivateBus()
    let service = try FakeSecretService(on: bus, manners: .gnomeKeyring)
    let tool = try Tool(hasVault: false)
    tool.environment.merge(bus.environment) { $1 }
    tool.environment["SECURESTORE_ALLOW_PLAIN_BUS"] = "1"
    _ = try tool.run("init", "--key", "keyring")
    service.lock()
    tool.environment["DISPLAY"] = ":99"
    service.change { $0.promptAnswer = .dismissed }
    return try tool.run("list")
  }

  /// A suite whose new file has its name when the sync of its folder fails.
  private static func unsynced() throws -> Tool.Result {
    let tool = try Tool()
    let folder = tool.path(".config")
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    try UserDefaultsStorage(
      at: URL(fileURLWithPath: folder + "/s.secure.plist"),
      keySource: .file(URL(fileURLWithPath: tool.keyFile))
    ).save("x", forKey: "A")
    return try tool.shell(
      "exec strace -f -qq -o /dev/null -P '\(folder)' -e trace=fsync -e inject=fsync:error=EIO "
        + "\"$0\" remove A --suite s")
  }

  private static func readOnly() throws -> Tool.Result {
    let tool = try Tool()
    var result: Tool.Result?
    try tool.locking(tool.data) { result = try tool.runUnprivileged(["compact"]) }
    return try #require(result)
  }

  private static func lockingOut() throws -> Tool.Result {
    let scripts = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().path
    return try Tool(hasVault: false).shell(
      """
      work=$PWD; . '\(scripts)/start-etcd.sh'; trap 'kill $server; wait' EXIT
      store="--etcd http://127.0.0.1:$client --prefix /apps/shop --key-file one.key"
      "$0" init $store; "$0" slots acknowledge $store; "$0" slots add --new-key-file two.key $store
      "$0" slots remove 1 $store
      """)
  }

  @Test(arguments: Depth.cases(Status.allCases, day: 12))
  func aCommandEndsWithEachCode(_ status: Status) throws {
    guard let result = try Self.command(endingWith: status) else { return }
    #expect(result.code == status.rawValue, "\(result.errors)")
  }

  // MARK: - A part of the work is left

  /// A vault with a value that does not open beside one that does.
  private static func spoiled() throws -> Tool {
    let tool = try Tool()
    _ = try tool.run("set", "well", input: "x")
    try VaultStorage(
      at: URL(fileURLWithPath: tool.vault), keySource: .file(URL(fileURLWithPath: tool.keyFile)),
      authenticationTag: Data([1])
    ).save("x", forKey: "strange")
    return tool
  }

  @Test func valuesThatCannotBeMovedAreDamagedAndOthersAreMoved() throws {
    let tool = try Self.spoiled()
    _ = try tool.run("set", "twice", input: "x")
    let other = ["--vault", "other.vault", "--key-file", "other.key"]
    #expect(try tool.run(["init"] + other).code == 0)
    #expect(try tool.run(["set", "twice"] + other, input: Data("y".utf8)).code == 0)
    let from = ["migrate", "--from-vault", tool.vault, "--from-key-file", tool.keyFile]
    let moved = try tool.run(from + other)
    #expect(moved.code == 12, "\(moved.errors)")
    #expect(moved.errors.contains("1 value can't be read") && moved.errors.contains("other store"))
    #expect(moved.errors.contains("their own value of twice"), "\(moved.errors)")
    #expect(try tool.run(["list"] + other).text == "twice\nwell\n")
    #expect(try tool.run("repair", "--yes", "--drop-unreadable").code == 0)
    #expect(try tool.run(from + other).code == 3)
  }

  /// A value of another tag is intact, which only verify can tell; so nobody calls it damaged alone.
  @Test(arguments: [
    "list", "list --long", "list --json", "run --all -- true", "export --stdout --format json",
    "export --stdout --format json --skip", "doctor",
  ])
  func whatMayBeIntactIsNotCalledDamagedAlone(_ command: String) throws {
    let tool = try Self.spoiled()
    let result = try tool.run(command.split(separator: " ").map(String.init))
    let said = result.errors + result.text
    #expect(said.contains("damaged, or sealed with another --authentication-tag"), "\(said)")
    let code: Int32 = command == "doctor" ? 2 : command.hasSuffix("--skip") ? 0 : 12
    #expect(result.code == code, "\(said)")
    let verified = try tool.run("verify")
    #expect(verified.code == 0 && verified.errors.contains("another --authentication-tag"))
  }

  /// An entry of a sealed folder that only a later release reads.
  @Test func whatALaterReleaseWroteIsNotCalledDamaged() throws {
    let tool = try Tool()
    #expect(try tool.run("files", "init").code == 0)
    #expect(try tool.run("files", "put", "well", input: "x").code == 0)
    try VaultStorage(
      at: URL(fileURLWithPath: tool.data + "/files/index.vault"),
      keySource: .file(URL(fileURLWithPath: tool.keyFile))
    ).save(Data([9, 9]), forKey: "newer")
    for command in [["list", "--long"], ["export", "out"], ["backup", "copy", "--skip-damaged"]] {
      let result = try tool.run(["files"] + command)
      #expect(result.code == 18, "\(command): \(result.errors)")
      #expect(!result.errors.contains("--drop-unreadable"), "\(command): \(result.errors)")
    }
  }

  @Test func whatAnExportLeavesOutIsWarnedOfWithItsReason() throws {
    let tool = try Self.spoiled()
    _ = try tool.run("set", "no variable", input: "x")
    let result = try tool.run("export", "--stdout", "--skip", "--json", "--format", "json")
    let warnings = try result.errors.split(separator: "\n").map { line in
      let all = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return (all?["warning"] as? [String: Any])?["code"] as? String
    }
    #expect(result.code == 0 && warnings == ["damaged"], "\(result.errors)")
    let dotenv = try tool.run("export", "--stdout", "--skip", "--format", "dotenv")
    #expect(dotenv.text == "well=x\n")
    #expect(dotenv.errors.contains("unsupported: left out: no variable"), "\(dotenv.errors)")
    #expect(dotenv.errors.contains("damaged: left out: 1 value"), "\(dotenv.errors)")
  }

  @Test func anExportOfFilesEndsWithTheReasonOfWhatIsLeftOut() throws {
    let tool = try Tool()
    #expect(try tool.run("files", "init").code == 0)
    #expect(try tool.run("files", "put", "well", input: "x").code == 0)
    let long = String(repeating: "n", count: 400)
    #expect(try tool.run("files", "put", long, input: "x").code == 0)
    let export = try tool.run("files", "export", "out")
    #expect(export.code == 64, "\(export.errors)")
    #expect(
      export.errors.contains("securestore: usage: 1 value") && !export.errors.contains("verify"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: tool.path("out")) == ["well"])
    #expect(try tool.run("files", "verify").code == 0)
    // Damage comes before all other reasons.
    let index = URL(fileURLWithPath: tool.data + "/files/index.vault")
    try VaultStorage(
      at: index, keySource: .file(URL(fileURLWithPath: tool.keyFile)),
      authenticationTag: Data([1])
    ).save("x", forKey: "strange")
    let damaged = try tool.run("files", "export", "again")
    #expect(damaged.code == 12 && damaged.errors.contains("files verify"), "\(damaged.errors)")
  }
}
