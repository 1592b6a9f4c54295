import Foundation
import KeyringTesting
import Testing

/// What doctor says of the desktop's keyring.
struct KeyringDoctorTests {
  private static let key = "keyring key com.example.tool"

  @Test func aVaultWhoseKeyIsThereIsGood() throws {
    let tool = try Session().tool()
    _ = try tool.run("init", "--key", "keyring")
    let states = try tool.doctor()
    for subject in ["session bus", "keyring's service", "keyring's collection", Self.key, "vault"] {
      #expect(states[subject] == "good", "\(subject)")
    }
    #expect(states["keychain"] == "absent")
    #expect(states["SECRET_BACKEND"] == nil)
    #expect(try tool.run("doctor").text.contains("the default one, \"Login\", is unlocked"))
  }

  @Test func aMachineWithoutAKeyringIsNoFault() throws {
    let tool = try Tool()
    #expect(try tool.run("doctor").code == 0)
    let states = try tool.doctor()
    #expect(states["session bus"] == "absent noBus")
    #expect(states[Self.key] == "absent noBus")
    #expect(states["vault"] == "good")
    #expect(states["keyring's service"] == nil)
  }

  @Test func whatTheVaultNeedsIsAFaultWhereItIsMissing() throws {
    let session = try Session()
    let tool = try session.tool()
    _ = try tool.run("init", "--key", "keyring")
    try session.keyring.lock()
    let locked = try tool.doctor()
    #expect(locked["keyring's collection"] == "bad locked")
    #expect(locked[Self.key] == "bad locked")
    #expect(locked["vault"] == "bad locked")
    let result = try tool.run("doctor")
    #expect(result.code == 2)
    #expect(result.text.contains("\"Login\": locked: the default collection is locked"))
    #expect(try session.keyring.isLocked())

    session.keyring.kill()
    #expect(try tool.doctor()["keyring's service"] == "bad noService")
    session.bus.kill()
    #expect(try tool.doctor()["session bus"] == "bad noBus")
  }

  @Test func aKeyThatIsGoneAndACollectionThatIsMissingAreSaid() throws {
    let session = try Session()
    let tool = try session.tool()
    _ = try tool.run("init", "--key", "keyring")
    _ = try tool.shell(
      "secret-tool clear xdg:schema SecurePropertyStorage.Key name com.example.tool")
    #expect(try tool.doctor()[Self.key] == "bad keyUnavailable")
    let without = try Session(hasDefaultCollection: false)
    let other = try without.tool(hasVault: true)
    #expect(try other.doctor()["keyring's collection"] == "absent noCollection")
    #expect(try other.run("doctor").code == 0)
  }

  @Test func aServiceThatHangsIsOutOfTime() throws {
    let session = try Session()
    let tool = try session.tool(hasVault: true)
    session.keyring.suspend()
    defer { session.keyring.resume() }
    #expect(try tool.doctor("--wait", "15")["keyring's service"] == "bad timedOut")
  }

  @Test func nobodyIsAskedAlsoWhereThereIsADisplay() throws {
    let bus = try PrivateBus()
    let service = try FakeSecretService(on: bus, manners: .gnomeKeyring)
    let tool = try Tool(hasVault: false)
    tool.environment.merge(bus.environment) { $1 }
    tool.environment["DISPLAY"] = ":99"
    tool.environment["SECURESTORE_ALLOW_PLAIN_BUS"] = "1"
    _ = try tool.run("init", "--key", "keyring")
    service.lock()
    service.forgetCalls()
    #expect(try tool.doctor()[Self.key] == "bad locked")
    #expect(service.callCount("Prompt") == 0)
  }

  @Test func aBackendThatIsNotFollowedIsSaid() throws {
    let tool = try Session().tool(hasVault: true)
    tool.environment["SECRET_BACKEND"] = "file"
    #expect(try tool.doctor()["SECRET_BACKEND"] == "ignored")
    let result = try tool.run("doctor")
    #expect(result.code == 0)
    #expect(result.text.contains("it is \"file\", which has no effect here"))
    tool.environment["SECRET_BACKEND"] = "service"
    #expect(try tool.doctor()["SECRET_BACKEND"] == nil)
  }

  @Test func whatAHostileVaultCallsItsKeyReachesNoTerminal() throws {
    let tool = try Session().tool()
    let name = String(repeating: "k", count: 20)
    #expect(try tool.run("init", "--key", "keyring:\(name)").code == 0)
    let path = URL(fileURLWithPath: tool.vault)
    var bytes = Array(try Data(contentsOf: path))
    let escapes = Array("\u{1B}]0;title\u{7}\u{1B}[31mkkkkk".utf8)
    try #require(escapes.count == name.utf8.count)
    var count = 0
    for index in bytes.indices where bytes[index...].starts(with: name.utf8) {
      bytes.replaceSubrange(index..<index + escapes.count, with: escapes)
      count += 1
    }
    try #require(count > 0)
    try Data(bytes).write(to: path)
    for arguments in [["doctor"], ["slots"], ["get", "A"], ["verify"]] {
      let result = try tool.run(arguments)
      #expect(!(result.text + result.errors).contains("\u{1B}"), "\(arguments)")
    }
  }
}
