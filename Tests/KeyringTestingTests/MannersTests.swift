import Testing

@testable import KeyringTesting

/// Each manner that the presets do not show.
@Suite struct MannersTests {
  private typealias Failure = KeyringTestingError

  private struct Setting {
    let bus: PrivateBus
    let fake: FakeSecretService
    let client: RawClient
    let item: String
  }

  private func setting(
    _ change: (inout FakeSecretService.Manners) -> Void = { _ in }
  ) throws -> Setting {
    let bus = try PrivateBus()
    let fake = try FakeSecretService(on: bus, manners: .init().with(change))
    let item = fake.addItem(label: "l", attributes: ["a": "b"], secret: [1, 2])!
    return Setting(bus: bus, fake: fake, client: try RawClient(bus), item: item)
  }

  // MARK: Prompts

  @Test func anAnsweredPromptUnlocksAndTellsWhoAskedAlone() throws {
    let it = try setting { $0.prompts = [.unlock] }
    it.fake.lock()
    let (caller, other) = (try Listener(it.bus, hearsBroadcasts: false), try Listener(it.bus))
    let prompt = try caller.call(
      SecretServiceName.bus, SecretServiceName.root, "org.freedesktop.Secret.Service", "Unlock",
      [.paths([it.item])])[1].text!
    try caller.showPrompt(prompt)
    let completed = try #require(caller.signals("Prompt.Completed").first)
    #expect(completed.body == [.boolean(false), .variant(.paths([it.item]))])
    #expect(completed.path == prompt && !it.fake.collections[0].isLocked)
    #expect(try other.signalsSoFar("Prompt.Completed").isEmpty)
    #expect(try other.signalsSoFar("Service.CollectionChanged").count == 1)
  }

  @Test func aWaitingPromptIsAnsweredByTheTestOrDismissedByTheCaller() throws {
    let it = try setting {
      $0.prompts = [.deleteItem]
      $0.promptAnswer = .waiting
      $0.broadcastsCompleted = true
    }
    let listener = try Listener(it.bus)
    let first = try it.client.call("Item.Delete", on: it.item)[0].text!
    it.fake.answerPrompts(.answered)
    #expect(it.fake.items.count == 1, "it was not shown yet")
    try listener.showPrompt(first)
    _ = try it.client.call("Prompt.Dismiss", on: first)
    #expect(listener.signals("Prompt.Completed").first?.body.first == .boolean(true))
    let second = try it.client.call("Item.Delete", on: it.item)[0].text!
    try listener.showPrompt(second)
    it.fake.answerPrompts(.answered)
    #expect(listener.signals("Prompt.Completed", atLeast: 2).last?.body.first == .boolean(false))
    #expect(it.fake.items.isEmpty)
  }

  // MARK: Collections

  @Test func aCollectionIsMadeTheAliasFollowsAndItIsDeleted() throws {
    let it = try setting()
    let listener = try Listener(it.bus)
    let label: DBusValue = .properties([
      "org.freedesktop.Secret.Collection.Label": .string("My Work!")
    ])
    let path = try it.client.call("Service.CreateCollection", label, .string("work"))[0].text!
    #expect(path == "/org/freedesktop/secrets/collection/my_work_")
    #expect(try it.client.call("Service.ReadAlias", .string("work")) == [.objectPath(path)])
    _ = try it.client.call("Service.SetAlias", .string("work"), .objectPath("/"))
    #expect(try it.client.call("Service.ReadAlias", .string("work")) == [.objectPath("/")])
    #expect(try it.client.call("Collection.Delete", on: path) == [.objectPath("/")])
    #expect(it.fake.collections.map(\.label) == ["Login"])
    #expect(try listener.signalsSoFar("Service.CollectionCreated").count == 1)
    #expect(try listener.signalsSoFar("Service.CollectionDeleted").count == 1)
  }

  // MARK: Items

  @Test func replacingTakesTheItemWithTheSameAttributesUnlessToldOtherwise() throws {
    let it = try setting()
    let both = try it.client.create(["a": "b", "c": "d"], [3], replace: true).item
    #expect(try it.client.create(["a": "b"], [4], replace: true).item == it.item)
    #expect(try it.client.create(["a": "b"], [5]).item != it.item)
    it.fake.change { $0.replacesSupersets = true }
    #expect(try it.client.create(["c": "d"], [6], replace: true).item == both)
    #expect(it.fake.items.map(\.secret) == [[4], [6], [5]])
  }

  /// The lies that tests of this package's own client can't tell from the truth.
  @Test func liesThatChangeNoValueAreTold() throws {
    let it = try setting()
    let other = it.fake.addItem(label: "l", attributes: ["c": "d"], secret: [9])!
    func lie(_ lies: FakeSecretService.Lies) { it.fake.change { $0.lies = lies } }
    lie(.longSecrets)
    #expect(try it.client.getSecrets(of: it.item)[it.item]?.count == (16 << 20) + 2)
    lie(.extraSecrets)
    #expect(try it.client.getSecrets(of: it.item) == [it.item: [1, 2], other: [9]])
    lie(.unlocked)
    it.fake.lock()
    #expect(try it.client.property("Locked", of: it.item, "Item") == .boolean(false))
    #expect(try it.client.getSecrets(of: it.item) == [:])
  }
}
