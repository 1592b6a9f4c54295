import Testing

@testable import KeyringTesting

/// What the presets promise of the three daemons.
@Suite struct PresetTests {
  @Test func keePassXCPromptsForEveryCreateAndDeleteAndBroadcastsCompleted() throws {
    let bus = try PrivateBus()
    let fake = try FakeSecretService(on: bus, manners: .keePassXC)
    let deaf = try Listener(bus, hearsBroadcasts: false)
    let listener = try Listener(bus)
    let client = try RawClient(bus)
    let (item, prompt) = try client.create(["a": "b"])
    #expect(item == "/" && prompt != "/" && fake.items.isEmpty)
    try deaf.showPrompt(prompt)
    let completed = try #require(listener.signals("Prompt.Completed").first)
    let path = try #require(fake.items.first?.path)
    #expect(completed.body == [.boolean(false), .variant(.objectPath(path))])
    #expect(try deaf.signalsSoFar("Prompt.Completed").isEmpty)
    let deletion = try client.call("Item.Delete", on: path)[0].text!
    #expect(deletion != "/" && fake.items.count == 1)
    try listener.showPrompt(deletion)
    #expect(listener.signals("Prompt.Completed", atLeast: 2).count == 2)
    #expect(fake.items.isEmpty)
  }

  @Test func itemsOfALockedKeePassXCVanish() throws {
    let bus = try PrivateBus()
    let fake = try FakeSecretService(
      on: bus, manners: .keePassXC.with { $0.lockedSearchHangs = false })
    let path = fake.addItem(label: "l", attributes: ["a": "b"], secret: [1])!
    let client = try RawClient(bus)
    #expect(try client.search(["a": "b"]).unlocked == [path])
    fake.lock()
    #expect(try client.search(["a": "b"]) == ([], []))
    #expect(
      client.error { () throws(KeyringTestingError) in
        try client.getSecret(of: path)
      } == "org.freedesktop.DBus.Error.UnknownObject")
    #expect(fake.items.count == 1)
    fake.unlock()
    #expect(try client.search(["a": "b"]).unlocked == [path])
  }

  @Test func keePassXCAddsAttributesAndRefusesSome() throws {
    let bus = try PrivateBus()
    let fake = try FakeSecretService(on: bus, manners: .keePassXC)
    let path = fake.addItem(label: "l", attributes: ["a": "b"], secret: [1])!
    let client = try RawClient(bus)
    let attributes = try client.property("Attributes", of: path, "Item")?.attributes
    #expect(attributes?["a"] == "b" && attributes?["Title"] == "l" && attributes?["Path"] == "/l")
    #expect(attributes?["Uuid"]?.count == 32)
    #expect(try client.search(["Title": "l"]).unlocked == [path])
    #expect(try client.search([:]) == ([], []))
    for refused in [["Password": "x"], ["x": "a{REF:P@I:1}"]] {
      let error = client.error { () throws(KeyringTestingError) in try client.create(refused) }
      #expect(error == "org.freedesktop.DBus.Error.InvalidArgs")
    }
  }

  @Test func keePassXCSignalsManyTimesAndRepairsText() throws {
    let bus = try PrivateBus()
    let fake = try FakeSecretService(on: bus, manners: .keePassXC)
    let path = fake.addItem(label: "l", attributes: ["a": "b"], secret: [1])!
    let client = try RawClient(bus)
    let listener = try Listener(bus)
    try client.setSecret([0x61, 0xFF], of: path)
    #expect(try listener.signalsSoFar("Collection.ItemChanged").count == 6)
    #expect(fake.items[0].secret == [0x61, 0xEF, 0xBF, 0xBD])
    let binary = client.secretValue([0x61, 0xFF], type: "application/octet-stream")
    _ = try client.call("Item.SetSecret", on: path, binary)
    #expect(fake.items[0].secret == [0x61, 0xFF])
  }

  @Test func aLockedKWalletGivesEmptySecretsAndOnlySaysThatItDeletes() throws {
    let bus = try PrivateBus()
    let fake = try FakeSecretService(on: bus, manners: .kWallet)
    #expect(fake.collections.map(\.isLocked) == [true])
    let path = fake.addItem(label: "l", attributes: ["a": "b"], secret: [1, 2])!
    let client = try RawClient(bus)
    #expect(try client.search(["a": "b"]).locked == [path])
    #expect(try client.getSecrets(of: path) == [path: []])
    #expect(try client.getSecret(of: path)[2] == .bytes([]))
    #expect(try client.call("Item.Delete", on: path) == [.objectPath("/")])
    #expect(fake.items.map(\.secret) == [[1, 2]])
    fake.unlock()
    #expect(try client.getSecrets(of: path) == [path: [1, 2]])
  }

  @Test func kWalletCutsTextRefusesAnEmptyLabelAndIsSilentOnAttributes() throws {
    let bus = try PrivateBus()
    let fake = try FakeSecretService(on: bus, manners: .kWallet)
    fake.unlock()
    let client = try RawClient(bus)
    let listener = try Listener(bus)
    let path = try client.create(["a": "b"], [0x61, 0, 0x62]).item
    #expect(fake.items[0].secret == [0x61])
    try client.setSecret([0x61, 0xFF], of: path)
    #expect(fake.items[0].secret == [])
    #expect(try listener.signalsSoFar("Collection.ItemChanged").count == 1)
    try client.setProperty("Attributes", of: path, "Item", to: .attributes(["a": "c"]))
    #expect(fake.items[0].attributes == ["a": "c"])
    #expect(try listener.signalsSoFar("Collection.ItemChanged").count == 1)
    #expect(
      client.error { () throws(KeyringTestingError) in
        try client.create(["x": "y"], label: "")
      } == "org.freedesktop.DBus.Error.InvalidArgs")
  }

  /// The preset against the daemon that it plays: the same calls, the same answers.
  @Test(arguments: [true, false])
  func gnomeKeyringAndItsPresetAnswerTheSame(isReal: Bool) throws {
    let bus = try PrivateBus()
    let real = isReal ? try GnomeKeyring(on: bus) : nil
    let fake = isReal ? nil : try FakeSecretService(on: bus, manners: .gnomeKeyring)
    let client = try RawClient(bus)
    let listener = try Listener(bus)
    let binary: [UInt8] = [0x61, 0, 0xFF]
    let item = try client.create(["a": "b", "c": "d"], binary, type: "application/octet-stream")
      .item
    #expect(item.hasPrefix("/org/freedesktop/secrets/collection/login/"))
    #expect(try listener.signalsSoFar("Collection.ItemCreated").count == 1)
    let secret = try client.getSecret(of: item)
    #expect(secret[2] == .bytes(binary) && secret[3] == .string("text/plain"))
    try client.setSecret([1], of: item)
    #expect(try listener.signalsSoFar("Collection.ItemChanged").isEmpty)
    try client.setProperty("Label", of: item, "Item", to: .string("new"))
    #expect(try listener.signalsSoFar("Collection.ItemChanged").count == 1)
    #expect(try client.search([:]).unlocked == [item])
    #expect(try client.create(["a": "b"], [2], replace: true).item == item)
    let attributes = try client.property("Attributes", of: item, "Item")?.attributes
    // After a replacement the daemon has a schema at times.
    #expect(attributes?.filter { $0.key != "xdg:schema" } == ["a": "b"])
    #expect(try client.create(["a": "b"], label: "").item != item)

    try real?.lock()
    fake?.lock()
    #expect(try client.search([:]).locked.contains(item))
    #expect(try client.getSecrets(of: item) == [:])
    let isLocked = "org.freedesktop.Secret.Error.IsLocked"
    typealias Failure = KeyringTestingError
    #expect(client.error { () throws(Failure) in try client.getSecret(of: item) } == isLocked)
    #expect(client.error { () throws(Failure) in try client.setSecret([1], of: item) } == isLocked)
    #expect(client.error { () throws(Failure) in try client.create(["a": "c"]) } == isLocked)
    #expect(
      client.error { () throws(Failure) in try client.call("Item.Delete", on: item) } == isLocked)
    let unlock = try client.call(
      "Service.Unlock", .paths([item, RawClient.defaultCollection]))
    #expect(unlock[0] == .paths([]) && unlock[1] != .objectPath("/"))

    try real?.unlock()
    fake?.unlock()
    #expect(try client.call("Item.Delete", on: item) == [.objectPath("/")])
    #expect(try listener.signalsSoFar("Collection.ItemDeleted").count == 1)
    #expect(
      client.error { () throws(Failure) in
        try client.getSecret(of: item)
      } == "org.freedesktop.DBus.Error.UnknownMethod")
  }

  /// Calls that go wrong: the names of the errors, from the daemon and from the preset.
  @Test func gnomeKeyringAndItsPresetRefuseTheSame() throws {
    let (realBus, fakeBus) = (try PrivateBus(), try PrivateBus())
    let real = try GnomeKeyring(on: realBus)
    let fake = try FakeSecretService(on: fakeBus, manners: .gnomeKeyring)
    let (realClient, fakeClient) = (try RawClient(realBus), try RawClient(fakeBus))
    for (method, path, arguments) in Self.wrongCalls {
      let outcomes = [fakeClient, realClient].map { client in
        outcome { () throws(KeyringTestingError) in
          try client.call(method, on: path, arguments(client.session))
        }
      }
      #expect(outcomes[0] == outcomes[1], "\(method) \(path)")
    }
    withExtendedLifetime((real, fake)) {}
  }

  private func outcome(_ body: () throws(KeyringTestingError) -> [DBusValue]) -> String {
    do { return "\(try body())" } catch { return error.errorName ?? "\(error)" }
  }

  /// The method, the object, and the arguments, made with the caller's session.
  private typealias WrongCall = (String, String, @Sendable (String) -> [DBusValue])

  private static let wrongCalls: [WrongCall] = {
    let (root, collections) = (SecretServiceName.root, SecretServiceName.collections)
    let (alias, none) = (RawClient.defaultCollection, SecretServiceName.aliases + "no")
    func property(_ name: String, _ interface: String) -> @Sendable (String) -> [DBusValue] {
      { _ in [.string("org.freedesktop.Secret." + interface), .string(name)] }
    }
    return [
      ("Service.ReadAlias", root, { _ in [.string("no")] }),
      ("Properties.Get", collections + "no", property("Label", "Collection")),
      ("Properties.Get", collections + "login/9", property("Label", "Item")),
      ("Properties.Get", collections + "login", property("No", "Collection")),
      ("Collection.SearchItems", collections + "no", { _ in [.attributes([:])] }),
      ("Collection.SearchItems", none, { _ in [.attributes([:])] }),
      ("Service.Lock", root, { _ in [.paths([collections + "no", "/x"])] }),
      ("Service.Unlock", root, { _ in [.paths([collections + "no"])] }),
      ("Service.Unlock", root, { _ in [.paths([alias])] }),
      ("Service.GetSecrets", root, { [.paths([collections + "no/1"]), .objectPath($0)] }),
      ("Service.GetSecrets", root, { _ in [.paths([]), .objectPath("/no/session")] }),
      ("Service.SetAlias", root, { _ in [.string("default"), .objectPath(collections + "no")] }),
      ("Session.Close", "/no/session", { _ in [] }),
      ("Prompt.Prompt", "/no", { _ in [.string("")] }), ("Service.No", root, { _ in [] }),
      ("Service.Lock", root, { _ in [] }), ("Service.SearchItems", root, { _ in [.string("x")] }),
      (
        "Collection.CreateItem", alias,
        { _ in
          let secret: DBusValue = .tuple([.objectPath("/no"), .bytes([]), .bytes([]), .string("")])
          return [.properties([:]), secret, .boolean(false)]
        }
      ),
      ("Service.OpenSession", root, { _ in [.string("no"), .variant(.string(""))] }),
    ]
  }()
}
