import Foundation
import KeyringTesting
import Testing

/// Vaults whose key is in the desktop's keyring: against the real gnome-keyring-daemon.
struct KeyringTests {
  @Test func aVaultThatWasMadeWithTheKeyringNeedsNoKeyOption() throws {
    let tool = try Session().tool()
    let made = try tool.run("init", "--key", "keyring")
    #expect(made.code == 0, "\(made.errors)")
    #expect(!FileManager.default.fileExists(atPath: tool.keyFile))
    #expect(try tool.run("slots").lines == ["1  keyring com.example.tool"])
    #expect(try tool.run("set", "A", input: "x").code == 0)
    for options in [
      [], ["--key", "keyring"], ["--key", "desktop"], ["--key", "keyring:com.example.tool"],
    ] {
      #expect(try tool.run(["get", "A"] + options).text == "x")
    }
    // The vault says what its key is called, so its path is enough.
    #expect(try tool.run("verify", "--vault", tool.vault).code == 0)
    #expect(try tool.run("backup", "copy").code == 0)
    #expect(try tool.run("get", "A", "--vault", "copy").text == "x")
    let restored = try tool.run("restore", "copy", "--vault", "restored")
    #expect(restored.code == 0, "\(restored.errors)")
    #expect(try tool.run("get", "A", "--vault", "restored").text == "x")
    #expect(try tool.run("get", "A", "--key", "keyring:another").code == 10)
  }

  @Test func theKeyIsShownNowhere() throws {
    let tool = try Session().tool()
    var said = ""
    func run(_ arguments: String...) throws {
      let result = try tool.run(arguments, input: Data("x".utf8))
      #expect(result.code == 0, "\(arguments): \(result.errors)")
      said += result.text + result.errors
    }
    try run("init", "--key", "keyring")
    let key = try tool.keyInKeyring()
    #expect(Data(base64Encoded: key)?.count == 32)
    try run("set", "A")
    try run("doctor")
    try run("doctor", "--json")
    try run("slots", "--json")
    try run("rotate", "--root", "--names", "--same-key", "--yes")
    try run("slots", "add", "--new-key", "keyring:second")
    #expect(!said.contains(key))
    #expect(!said.contains(try tool.keyInKeyring("second")))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: tool.vault))
    #expect(bytes.range(of: Data(key.utf8)) == nil)
  }

  @Test func aVaultMovesToTheKeyringAndAway() throws {
    let tool = try Session().tool(hasVault: true)
    _ = try tool.run("set", "A", input: "x")
    let moved = try tool.run("slots", "change", "--yes", "--new-key", "keyring")
    #expect(moved.code == 0, "\(moved.errors)")
    #expect(try tool.run("slots").lines == ["2  keyring com.example.tool"])
    try FileManager.default.removeItem(atPath: tool.keyFile)
    #expect(try tool.run("get", "A").text == "x")
    // A root that leaked, with a key of another name.
    let rotated = try tool.run("rotate", "--root", "--yes", "--names", "--new-key", "keyring:fresh")
    #expect(rotated.code == 0, "\(rotated.errors)")
    #expect(try tool.run("slots").lines.first?.hasSuffix("keyring fresh") == true)
    #expect(try tool.run("get", "A").text == "x")
    try tool.write("correct horse", to: "pass")
    #expect(try tool.run("passphrase", "--yes", "--new-passphrase-file", "pass").code == 0)
    #expect(try tool.run("get", "A").code == 10)
    #expect(try tool.run("get", "A", "--passphrase-file", "pass").text == "x")
    let back = try tool.run(
      "slots", "change", "--yes", "--passphrase-file", "pass", "--new-key", "keyring")
    #expect(back.code == 0, "\(back.errors)")
    #expect(try tool.run("get", "A").text == "x")
  }

  @Test func aPathAloneDoesNotNameANewKey() throws {
    let tool = try Session().tool()
    tool.environment["SECURESTORE_APP"] = nil
    #expect(try tool.run("init", "--vault", "new", "--key", "keyring").code == 64)
    #expect(try tool.run("init", "--vault", "new", "--key", "desktop").code == 64)
    #expect(try tool.run("init", "--vault", "new", "--key", "keyrings").code == 64)
    #expect(!FileManager.default.fileExists(atPath: tool.path("new")))
    #expect(try tool.run("init", "--vault", "new", "--key", "keyring:mine").code == 0)
    #expect(try tool.run("set", "A", "--vault", "new", input: "x").code == 0)
    #expect(try tool.run("get", "A", "--vault", "new", "--key", "keyring").text == "x")
  }

  @Test func desktopTakesTheKeyringWhereThereIsOneAndElseTheFile() throws {
    let desktop = try Session().tool()
    #expect(try desktop.run("init", "--key", "desktop").code == 0)
    #expect(try desktop.run("slots").lines == ["1  keyring com.example.tool"])
    let server = try Tool(hasVault: false)
    #expect(try server.run("init", "--key", "desktop").code == 0)
    #expect(try server.run("slots").lines == ["1  file master.key"])
    let none = try Tool(hasVault: false)
    let refused = try none.run("init", "--key", "keyring")
    #expect(refused.code == 10)
    #expect(refused.errors.contains("no session bus"))
    #expect(!FileManager.default.fileExists(atPath: none.vault))
  }

  @Test func aLockedKeyringIsLockedAndNothingIsMadeInstead() throws {
    let session = try Session()
    let tool = try session.tool()
    _ = try tool.run("init", "--key", "keyring")
    _ = try tool.run("set", "A", input: "x")
    try session.keyring.lock()
    for arguments in [["get", "A"], ["set", "A"], ["slots", "add", "--new-key-file", "a.key"]] {
      let result = try tool.run(arguments, input: Data("y".utf8))
      #expect(result.code == 14)
      #expect(result.errors.contains("locked"))
    }
    #expect(try tool.run("slots").code == 0)
    #expect(try tool.run("init", "--vault", "new", "--key", "desktop", "--app", "other").code == 14)
    #expect(!FileManager.default.fileExists(atPath: tool.path("new")))
    try session.keyring.unlock()
    #expect(try tool.run("get", "A").text == "x")
  }

  @Test func aKeyThatIsGoneIsNotMadeAnew() throws {
    let tool = try Session().tool()
    _ = try tool.run("init", "--key", "keyring")
    _ = try tool.run("set", "A", input: "x")
    let key = try tool.keyInKeyring()
    let item = "xdg:schema SecurePropertyStorage.Key name com.example.tool"
    _ = try tool.shell("secret-tool clear \(item)")
    let gone = try tool.run("set", "A", input: "y")
    #expect(gone.code == 10)
    #expect(gone.errors.contains("the keyring has no such item"))
    #expect(try tool.keyInKeyring() == "")
    _ = try tool.shell("printf %s \(key) | secret-tool store --label=key \(item)")
    #expect(try tool.run("get", "A").text == "x")
    // A second item of the name: neither is picked.
    _ = try tool.shell("printf %s other | secret-tool store --label=key \(item) more 1")
    #expect(try tool.run("get", "A").code == 23)
  }

  @Test func aDismissedPromptIsANo() throws {
    let bus = try PrivateBus()
    let service = try FakeSecretService(on: bus, manners: .gnomeKeyring)
    let tool = try Tool(hasVault: false)
    tool.environment.merge(bus.environment) { $1 }
    // The service does not encrypt: no key is sent to it unless that is allowed.
    let refused = try tool.run("init", "--key", "keyring")
    #expect(refused.code != 0 && service.items.isEmpty)
    tool.environment["SECURESTORE_ALLOW_PLAIN_BUS"] = "1"
    #expect(try tool.run("init", "--key", "keyring").code == 0)
    service.lock()
    service.forgetCalls()
    // Without a display nobody is asked.
    #expect(try tool.run("list").code == 14)
    #expect(service.callCount("Prompt") == 0)
    tool.environment["DISPLAY"] = ":99"
    service.change { $0.promptAnswer = .dismissed }
    #expect(try tool.run("list").code == 4)
    service.change { $0.promptAnswer = .answered }
    #expect(try tool.run("list").code == 0)
    #expect(service.callCount("Prompt") == 2)
  }

  @Test func aServiceThatHangsIsWaitedForAsLongAsWasSaid() throws {
    let session = try Session()
    let tool = try session.tool()
    _ = try tool.run("init", "--key", "keyring")
    session.keyring.suspend()
    // One that has ten minutes for it, and one that has none.
    let script = """
      "$0" list --wait 600 & patient=$!
      "$0" list --wait 0 --json; hasty=$?
      set -e
      kill -0 $patient
      bus=org.freedesktop.DBus
      daemon=$(dbus-send --session --print-reply=literal --dest=$bus / \
        $bus.GetConnectionUnixProcessID string:org.freedesktop.secrets)
      kill -CONT ${daemon##* }
      wait $patient
      exit $hasty
      """
    let result = try tool.shell(script)
    #expect(result.code == 75, "\(result.errors)")
    #expect(try result.error()["code"] as? String == "timedOut")
  }

  @Test func aKeyFileIsNotTheOldOneOfAVaultThatTheKeyringOpened() throws {
    let tool = try Session().tool()
    tool.environment["SECURESTORE_APP"] = nil
    let other = ["--vault", "other.vault", "--key-file", "env.key"]
    #expect(try tool.run(["init"] + other).code == 0)
    #expect(try tool.run("init", "--vault", "b.vault", "--key", "keyring:first").code == 0)
    tool.environment["SECURESTORE_KEY_FILE"] = tool.path("env.key")
    let rotate = ["rotate", "--root", "--yes", "--vault", "b.vault"]
    let kept = try tool.run(rotate + ["--new-key", "keyring:second", "--json"])
    #expect(kept.code == 0, "\(kept.errors)")
    #expect(try kept.json()["oldKeyFile"] == nil)
    let moved = try tool.run(rotate + ["--new-key-file", "new.key"])
    #expect(moved.code == 0, "\(moved.errors)")
    #expect(!moved.errors.contains("env.key"), "\(moved.errors)")
    tool.environment["SECURESTORE_KEY_FILE"] = tool.path("new.key")
    let back = try tool.run(rotate + ["--new-key", "keyring:third", "--json"])
    #expect(try back.json()["oldKeyFile"] as? String == tool.path("new.key"))
    #expect(try tool.run(["list"] + other).code == 0)
  }
}
