import Foundation
import KeyringTesting
import Testing

@testable import KeyringBackend

@Suite(.ownDaemon) struct QueryTests {
  private let desktop: Desktop
  private let foreign: Foreign
  private let queries: ItemQueries

  init() throws {
    desktop = try Desktop()
    foreign = try Foreign(desktop)
    queries = ItemQueries(client: desktop.client)
  }

  private func options(_ more: KeyringOption...) -> KeyringOptions {
    KeyringOptions([.returnData(true), .returnAttributes(true), .access(.patient)]).union(more)
  }

  private struct Named: KeyringQueryable, ItemQuerying {
    var attributes: KeyringAttributes
    var options: KeyringOptions = .matchFirst.union([.access(.patient)])
    let itemQueries: ItemQueries
  }

  // MARK: - Searching

  @Test func everyTypedAttributeComesBack() throws {
    let attributes: KeyringAttributes = [
      .kind(.internet), .server("example.com"), .account("me"), .port(8080), .path("/p"),
      .protocol(.ldaps), .securityDomain("realm"), .authenticationType("digest"),
      .label("A label"), .comment("a comment"), .description("a description"), .creator("us"),
      .custom("own", "value"), .password("secret"),
    ]
    try queries.modify(attributes, ["own": "value"], options())
    let item = try #require(try queries.search(["own": "value"], options()).first)
    #expect(item.kind == .internet)
    #expect(item.server == "example.com")
    #expect(item.account == "me")
    #expect(item.port == 8080)
    #expect(item.path == "/p")
    #expect(item.protocol == .ldaps)
    #expect(item.securityDomain == "realm")
    #expect(item.authenticationType == "digest")
    #expect(item.label == "A label")
    #expect(item.comment == "a comment")
    #expect(item.itemDescription == "a description")
    #expect(item.creator == "us")
    #expect(item["own"] == "value")
    #expect(item.password == "secret")
    #expect(item.attributes["xdg:schema"] == "org.gnome.keyring.NetworkPassword")
    let created = try #require(item.created)
    #expect(abs(created.timeIntervalSinceNow) < 3600)
    // Each of them finds it, and another value of each does not.
    let finds: [(KeyringAttribute, KeyringAttribute)] = [
      (.kind(.internet), .kind(.generic)), (.server("example.com"), .server("other")),
      (.account("me"), .account("you")), (.port(8080), .port(80)), (.path("/p"), .path("/")),
      (.protocol(.ldaps), .protocol(.ldap)), (.securityDomain("realm"), .securityDomain("")),
      (.authenticationType("digest"), .authenticationType("basic")),
      (.label("A label"), .label("a label")), (.comment("a comment"), .comment("")),
      (.description("a description"), .description("x")), (.creator("us"), .creator("them")),
      (.created(created), .created(created + 1)),
      (.modified(try #require(item.modified)), .modified(created - 1)),
    ]
    for (right, wrong) in finds {
      #expect(
        try queries.search([.custom("own", "value"), right], options()).count == 1, "\(right)")
      #expect(try queries.search([.custom("own", "value"), wrong], options()).isEmpty, "\(wrong)")
    }
  }

  @Test func theFirstIsTheOldestAndAllAreInOrder() throws {
    for index in 0..<12 {
      try foreign.createItem([UInt8(index)], ["group": "g", "index": "\(index)"])
    }
    let all = try queries.search(["group": "g"], options(.matchLimit(.all)))
    #expect(all.map { $0["index"] } == (0..<12).map { "\($0)" })
    #expect(all.map(\.data) == (0..<12).map { Data([UInt8($0)]) })
    #expect(try queries.search(["group": "g"], options()).map { $0["index"] } == ["0"])
    let named = Named(attributes: ["group": "g"], itemQueries: queries)
    #expect(try named.item?["index"] == "0")
    #expect(try named.items.count == 12)
    #expect(try queries.search([], options(.matchLimit(.all))).count == 12)
  }

  @Test func onlyWhatIsAskedForIsGiven() throws {
    try foreign.createItem([1], ["a": "b"])
    let nothing = try #require(try queries.search(["a": "b"], [.access(.patient)]).first)
    #expect(nothing.data == nil)
    #expect(nothing.password == nil)
    #expect(nothing.attributes.isEmpty)
    #expect(nothing.label == nil)
    let data = try #require(
      try queries.search(["a": "b"], [.access(.patient), .returnData(true)]).first)
    #expect(data.data == Data([1]))
    #expect(data.attributes.isEmpty)
    let attributes = try #require(
      try queries.search(["a": "b"], [.access(.patient), .returnAttributes(true)]).first)
    #expect(attributes.data == nil)
    #expect(attributes["a"] == "b")
  }

  @Test func aGroupIsSearchedAlone() throws {
    _ = try desktop.keyring.createCollection(label: "Other")
    try foreign.createItem([1], ["a": "b"])
    try queries.modify([.data(Data([2]))], ["a": "b"], options(.group("Other")))
    #expect(try queries.search(["a": "b"], options(.matchLimit(.all))).count == 2)
    #expect(try queries.search(["a": "b"], options(.group("Other"))).map(\.data) == [Data([2])])
    #expect(try queries.search(["a": "b"], options(.group("login"))).map(\.data) == [Data([1])])
    #expect(code { _ = try queries.search(["a": "b"], options(.group("none"))) } == .noCollection)
  }

  @Test func recordsOfSealedStoresAreNotFound() throws {
    let storage = desktop.storage(service: "sealed")
    try storage.save("value", forKey: "key")
    #expect(try foreign.items(["service": "sealed"]).count > 0)
    #expect(try queries.search(["service": "sealed"], options()).isEmpty)
    #expect(try queries.search([], options(.matchLimit(.all))).isEmpty)
    #expect(try queries.remove(["service": "sealed"], options(.matchLimit(.all))) == 0)
    #expect(try desktop.keyring("sealed").keys() == [])
    try desktop.keyring("sealed").empty()
    #expect(try storage.load(String.self, forKey: "key") == "value")
  }

  @Test func aSecretIsNoQuery() throws {
    #expect(code { _ = try queries.search([.password("x")], options()) } == .invalid)
    #expect(code { _ = try queries.remove([.data(Data())], options()) } == .invalid)
    #expect(code { _ = try queries.search(["a": "\0"], options()) } == .invalid)
    #expect(code { _ = try queries.search(["\0": "a"], options()) } == .invalid)
  }

  // MARK: - Changing

  @Test func aMissingItemIsMadeOnceAndThenChanged() throws {
    let named = Named(attributes: [.service("s"), .account("a")], itemQueries: queries)
    #expect(code { try named.update(.comment("x")) } == .invalid)
    #expect(try named.item == nil)
    try named.update(.password("one"), .comment("first"))
    #expect(try foreign.lookUp(["service": "s", "account": "a"]) == Array("one".utf8))
    #expect(try foreign.password("s", "a") == "one")
    try named.update(.password("two"), .label("labelled"), .custom("more", "1"))
    let item = try #require(try named.item)
    #expect(item.password == "two")
    #expect(item.label == "labelled")
    #expect(item.comment == "first")
    #expect(item["more"] == "1")
    try named.update(.account("b"))
    #expect(try named.item == nil)
    #expect(try foreign.lookUp(["service": "s", "username": "b"]) == Array("two".utf8))
    #expect(try foreign.items(["service": "s"]).count == 1)
  }

  @Test func anItemThatWasMadeHasAKindThatFits() throws {
    try queries.modify([.password("x")], [.server("h"), .account("a")], options())
    #expect(
      try foreign.items(["server": "h"]).map(\.attributes) == [
        ["server": "h", "user": "a", "xdg:schema": "org.gnome.keyring.NetworkPassword"]
      ])
    try queries.modify([.password("x"), .kind(.generic)], [.service("s")], options())
    #expect(
      try foreign.items(["service": "s"]).map(\.attributes) == [
        ["service": "s", "xdg:schema": "org.freedesktop.Secret.Generic"]
      ])
  }

  @Test func severalAreADuplicateUnlessAllAreMeant() throws {
    for index in 0..<3 { try foreign.createItem([1], ["g": "g", "index": "\(index)"]) }
    #expect(code { try queries.modify([.comment("x")], ["g": "g"], options()) } == .duplicate)
    #expect(code { _ = try queries.remove(["g": "g"], options()) } == .duplicate)
    #expect(try foreign.items(["g": "g"]).allSatisfy { $0.attributes["comment"] == nil })
    try queries.modify(
      [.comment("x"), .data(Data([2]))], ["g": "g"], options(.matchLimit(.all)))
    #expect(try foreign.items(["comment": "x"]).map(\.secret) == [[2], [2], [2]])
    #expect(try queries.remove(["g": "g"], options(.matchLimit(.all))) == 3)
    #expect(try queries.remove(["g": "g"], options()) == 0)
  }

  @Test func aChangeOfOneItemDoesNotTakeAnotherOnesPlace() throws {
    try foreign.createItem([1], ["service": "s", "account": "a"])
    try foreign.createItem([2], ["service": "s", "account": "b", "extra": "1"])
    try queries.modify(
      [.custom("account", "b"), .data(Data([3]))], ["service": "s", "account": "a"], options())
    #expect(Set(try foreign.items(["service": "s"]).map(\.secret)) == [[2], [3]])
  }

  @Test func anItemThatTheQueryLeftOutIsNotReplaced() throws {
    try queries.modify(
      [.password("home")], [.service("s"), .account("a"), .label("Home")], options())
    #expect(
      code {
        try queries.modify(
          [.password("work")], [.service("s"), .account("a"), .label("Work")], options())
      } == .duplicate)
    // What is changed into an item that is there.
    #expect(
      code {
        try queries.modify(
          [.service("s"), .password("x")], [.service("old"), .account("a")], options())
      } == .duplicate)
    let items = try queries.search([.service("s")], options(.matchLimit(.all)))
    #expect(items.map(\.label) == ["Home"])
    #expect(items.map(\.data) == [Data("home".utf8)])
  }

  @Test func theKeyOfAStoreIsNotReplaced() throws {
    let name = Desktop.freshService()
    let key = KeyringKey(name: name, collection: nil, access: .patient, client: desktop.client)
    _ = try key.make()
    let query = ["xdg:schema": "SecurePropertyStorage.Key", "name": name]
    let before = try foreign.items(["name": name]).map(\.secret)
    #expect(
      code {
        try queries.modify([.password("x")], KeyringAttributes(query), options())
      } == .duplicate)
    #expect(try foreign.items(["name": name]).map(\.secret) == before)
  }

  @Test func whatCannotBeChangedIsInvalidAndChangesNothing() throws {
    try foreign.createItem([1], ["a": "b"])
    let before = try foreign.items(["a": "b"])
    for change in [
      KeyringAttribute.created(.now), .modified(.now), .custom("c", "\0"), .label("\0"),
    ] {
      #expect(code { try queries.modify([change], ["a": "b"], options()) } == .invalid, "\(change)")
    }
    // What would be all items is no query for a change.
    for query: KeyringAttributes in [[], [.kind(.generic)], [.label("a label")]] {
      #expect(code { try queries.modify([.comment("x")], query, options()) } == .invalid)
      #expect(code { _ = try queries.remove(query, options(.matchLimit(.all))) } == .invalid)
    }
    #expect(try foreign.items(["a": "b"]) == before)
  }

  @Test func theSecretOfASealedItemIsItsKeyringsToChange() throws {
    let sealed = desktop.keyring("s", accessibility: .whenUnlockedThisDeviceOnly)
    try sealed.container(for: "a").store("x")
    #expect(
      code { try queries.modify([.password("y")], ["service": "s"], options()) } == .typeMismatch)
    for change: KeyringAttribute in [.account("b"), .service("t"), .custom("sps:sealed", "x")] {
      #expect(
        code { try queries.modify([change], ["service": "s"], options()) } == .typeMismatch)
    }
    try queries.modify([.comment("c")], ["service": "s"], options())
    #expect(try sealed.container(for: "a").fetch(String.self) == "x")
  }

  @Test func aLockedKeyringIsSaid() throws {
    try foreign.createItem([1], ["a": "b"])
    try desktop.keyring.lock()
    #expect(code { _ = try queries.search(["a": "b"], options()) } == .locked)
    #expect(code { try queries.modify([.comment("x")], ["a": "b"], options()) } == .locked)
    #expect(code { _ = try queries.remove(["a": "b"], options()) } == .locked)
  }
}
