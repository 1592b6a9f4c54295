import KeyringTesting
import Testing

@Suite struct SecretToolTests {
  @Test(arguments: Preset.allCases)
  func secretToolStoresFindsAndClears(_ preset: Preset) throws {
    let bus = try PrivateBus()
    let fake = try FakeSecretService(on: bus, manners: preset.manners)
    let tool = SecretTool(bus)
    #expect(try tool.store("s3cret", "service", "mail", "user", "me").status == 0)
    #expect(fake.items.map(\.secret) == [Array("s3cret".utf8)])
    #expect(fake.items.first?.label == "a label")
    #expect(fake.items.first?.attributes["user"] == "me")
    #expect(try tool.lookup("service", "mail") == .init(lines: ["s3cret"], status: 0))
    #expect(try tool.lookup("service", "other") == .init(lines: [], status: 1))
    let found = try tool.search("service", "mail")
    #expect(found.lines.contains("secret = s3cret"))
    #expect(found.lines.contains("label = a label"))
    #expect(try tool.store("new", "service", "mail", "user", "me").status == 0)
    #expect(fake.items.map(\.secret) == [Array("new".utf8)])
    #expect(try tool.clear("service", "mail").status == 0)
    #expect(fake.items.isEmpty)
    #expect(fake.callCount("OpenSession") > 0)
  }

  @Test func theRealDaemonIsUsedInTheSameWay() throws {
    let bus = try PrivateBus()
    let keyring = try GnomeKeyring(on: bus)
    let tool = SecretTool(bus)
    #expect(try tool.store("s3cret", "service", "mail").status == 0)
    #expect(try tool.lookup("service", "mail") == .init(lines: ["s3cret"], status: 0))
    try keyring.restart()
    #expect(try tool.lookup("service", "mail") == .init(lines: ["s3cret"], status: 0))
  }
}
