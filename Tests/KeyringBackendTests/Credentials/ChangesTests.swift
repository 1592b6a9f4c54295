import Foundation
import KeyringTesting
import Testing

@testable import KeyringBackend

/// What listeners hear of, each test with a keyring of its own.
@Suite(.ownDaemon) struct ChangesTests {
  private let desktop: Desktop
  private let foreign: Foreign

  init() throws {
    desktop = try Desktop()
    foreign = try Foreign(desktop)
  }

  private func listener(
    _ changes: KeyringChanges
  ) async -> KeyringChanges.Iterator {
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.isListening(isolation: #isolation))
    return iterator
  }

  private var all: KeyringChanges { KeyringChanges(client: desktop.client) { _ in true } }

  @Test func whatOtherProgramsDoIsToldOnceAndInOrder() async throws {
    var changes = await listener(all)
    var others = await listener(all)
    let attributes = ["service": "s", "account": "a"]
    try foreign.store([1], attributes)
    try foreign.store([2], attributes)
    _ = try await Task.detached { [desktop] in
      let other = ItemQueries(client: desktop.anotherClient())
      try other.modify([.comment("c")], ["service": "s"], [.access(.patient)])
      return try other.remove(["service": "s"], [.access(.patient)])
    }.value
    var commented = attributes
    commented["comment"] = "c"
    // One change after another may be told as one; the last is always told.
    for _ in 0..<2 {
      var kinds: [KeyringChange.Kind] = []
      while kinds.last != .deleted {
        let change = try #require(await changes.next())
        kinds.append(change.kind)
        // gnome-keyring adds a schema to some items, and to some not.
        let own = change.attributes.filter { $0.key != "xdg:schema" }
        #expect(own == attributes || own == commented, "\(change)")
        #expect(change.label == "a label")
      }
      #expect(kinds.first == .created)
      #expect(kinds.count <= 4)
      #expect(kinds.dropFirst().dropLast().allSatisfy { $0 == .changed })
      swap(&changes, &others)
    }
  }

  @Test func eachKindIsTold() async throws {
    var changes = await listener(all)
    try foreign.store([1], ["service": "s", "account": "a"])
    #expect(await changes.next()?.kind == .created)
    try foreign.store([2], ["service": "s", "account": "a"])
    #expect(await changes.next()?.kind == .changed)
    try desktop.keyring("s").container(for: "a").store(Data([3]))
    #expect(await changes.next()?.kind == .changed)
    try desktop.keyring("s").container(for: "a").empty()
    let last = await changes.next()
    #expect(last?.kind == .deleted)
    #expect(last?.attributes["account"] == "a")
    // What is stored again as it was is no change: the next is the other item's.
    try desktop.keyring("other").container(for: "a").store("same")
    #expect(await changes.next()?.attributes["service"] == "other")
    try desktop.keyring("other").container(for: "a").store("same")
    try foreign.store([1], ["service": "third"])
    #expect(await changes.next()?.attributes["service"] == "third")
  }

  @Test func aKeyringHearsOfItsServiceAlone() async throws {
    var changes = await listener(desktop.keyring("mine").changes)
    try foreign.store([1], ["service": "other"])
    try foreign.store([2], ["service": "mine"])
    #expect(await changes.next()?.attributes["service"] == "mine")
  }

  @Test func aRestartedServiceIsLookedAtAgain() async throws {
    try foreign.store([1], ["service": "before"])
    var changes = await listener(all)
    try desktop.keyring.restart()
    // It may be told as made twice if it is looked at in between: the item's own path says not.
    try foreign.store([1], ["service": "after"])
    let first = await changes.next()
    #expect(first?.attributes["service"] == "after", "\(first as Any)")
    try foreign.store([2], ["service": "before"])
    // The look after a restart reads no secret, so a signal that comes later is taken for a change.
    var change = await changes.next()
    while change?.attributes["service"] == "after" { change = await changes.next() }
    #expect(change?.kind == .changed)
    #expect(change?.attributes["service"] == "before")
  }

  @Test func whatIsLockedIsNotDeleted() async throws {
    let fake = try FakeDesktop(.keePassXC)
    let path = try #require(
      fake.service.addItem(label: "l", attributes: ["service": "s"], secret: [1]))
    var changes = await listener(KeyringChanges(client: fake.client) { _ in true })
    fake.service.lock()
    fake.service.unlock()
    // Many hints of one change are one change.
    fake.service.setSecret([2], of: path)
    fake.service.addItem(label: "l", attributes: ["service": "last"], secret: [1])
    #expect(await changes.next()?.kind == .changed)
    let next = await changes.next()
    #expect(next?.attributes["service"] == "last")
    #expect(next?.kind == .created)
  }

  @Test func whatWasHiddenByALockIsNoNewsWhenItIsUnlocked() async throws {
    let fake = try FakeDesktop(.gnomeKeyring)
    fake.service.addItem(label: "l", attributes: ["service": "old"], secret: [1])
    fake.service.lock()
    var changes = await listener(KeyringChanges(client: fake.client) { _ in true })
    fake.service.forgetCalls()
    fake.service.unlock()
    // What is there when it is looked at for the first time is not news, so that comes first.
    while fake.service.callCount("GetAll") == 0 { try await Task.sleep(for: .milliseconds(5)) }
    fake.service.addItem(label: "l", attributes: ["service": "new"], secret: [1])
    let change = await changes.next()
    #expect(change?.kind == .created)
    #expect(change?.attributes["service"] == "new")
  }

  @Test func cancellingEndsTheIteration() async throws {
    let changes = all
    let task = Task {
      var count = 0
      for await _ in changes { count += 1 }
      return count
    }
    task.cancel()
    #expect(await task.value == 0)
    let credential = Credential<String>.service("s", on: desktop)
    let values = Task {
      for await _ in credential.values {}
      return true
    }
    values.cancel()
    #expect(await values.value)
  }

  @Test func listeningEndsWithTheIterator() async throws {
    do {
      let iterator = await listener(all)
      #expect(desktop.client.signals.isListening)
      withExtendedLifetime(iterator) {}
    }
    // Not by yielding: what runs all the time keeps the threads that the calls need.
    while desktop.client.signals.isListening { try await Task.sleep(for: .milliseconds(2)) }
  }

  // MARK: - Values

  @Test func aCredentialsValuesAreTheOneNowAndThenEveryOther() async throws {
    let credential = Credential<String>.service("s", account: "a", on: desktop)
    var values = credential.values.makeAsyncIterator()
    #expect(await values.next() == .some(.none))
    try foreign.store(Array("one".utf8), ["service": "s", "account": "a"])
    #expect(await values.next() == "one")
    try credential.save("two")
    #expect(await values.next() == "two")
    // SetSecret, which gnome-keyring does not signal, by this process.
    try foreign.store(Array("three".utf8), ["service": "s", "account": "a"])
    #expect(await values.next() == "three")
    try credential.save("four")
    #expect(await values.next() == "four")
    try credential.setAccount("b")
    try credential.save("five")
    #expect(await values.next() == "five")
    try credential.remove()
    #expect(await values.next() == .some(.none))
    var others = credential.values.makeAsyncIterator()
    #expect(await others.next() == .some(.none))
  }

  @Test func aValueThatCannotBeReadIsReportedAndLeftOut() async throws {
    let log = Lock<[StorageError.Code]>([])
    let credential = Credential<Int>.service("s", account: "a", on: desktop) { error in
      log.withLock { $0.append((error as? StorageError)?.code ?? .io) }
    }
    try foreign.store(Array("text".utf8), ["service": "s", "account": "a"])
    let first = Task {
      var values = credential.values.makeAsyncIterator()
      return await values.next()
    }
    while log.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(2)) }
    try foreign.store(Array("7".utf8), ["service": "s", "account": "a"])
    #expect(await first.value == 7)
    #expect(log.withLock { $0 } == [.typeMismatch])
    var values = credential.values.makeAsyncIterator()
    #expect(await values.next() == 7)
  }
}

/// What is heard of a service that is not there yet.
@Suite struct LateServiceTests {
  @Test func aServiceThatStartsLaterIsHeard() async throws {
    let desktop = try FakeDesktop()
    let service = desktop.service
    service.stop()
    var changes = KeyringChanges(client: desktop.client) { _ in true }.makeAsyncIterator()
    #expect(await changes.isListening(isolation: #isolation))
    try service.restart()
    // No call of this process finds it.
    let adding = Task.detached {
      for number in 0... {
        service.addItem(label: "l", attributes: ["number": "\(number)"], secret: [1])
        try await Task.sleep(for: .milliseconds(100))
      }
    }
    // The signal of an item that the first look found may come later, and is then a change.
    var kind: KeyringChange.Kind?
    repeat { kind = await changes.next()?.kind } while kind == .changed
    #expect(kind == .created)
    adding.cancel()
  }
}
