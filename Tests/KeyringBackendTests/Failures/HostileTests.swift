import Foundation
import KeyringTesting
import StorageCore
import TestSupport
import Testing

@testable import KeyringBackend

/// What another program puts into the keyring, or does there at the worst moment.
@Suite(.ownDaemon) struct HostileTests {
  private typealias Manners = FakeSecretService.Manners

  private static let patient = KeyringAccess(deadline: .seconds(60), prompts: .always)

  /// An access to the fake on its own bus, as a program's tests have it.
  private func access(_ desktop: FakeDesktop) -> KeyringAccess {
    KeyringAccess(deadline: .seconds(60), prompts: .always, bus: desktop.bus.address)
  }

  // MARK: - Others' items

  @Test func whatAnotherStoresWhileTheSessionIsProvenStays() throws {
    let desktop = try FakeDesktop()
    let service = desktop.service
    let reads = Lock(0)
    service.change {
      $0.beforeEachCall = { [weak service] method in
        guard method == "Service.GetSecrets", let service else { return }
        let number = reads.withLock { number in
          number += 1
          return number
        }
        // Between the first reads of the new item, and then no more.
        guard number < 4, let item = service.items.last else { return }
        service.setSecret(Array("theirs \(number)".utf8), of: item.path)
      }
    }
    let keyring = Keyring(service: "shared", access: access(desktop))
    try keyring.container(for: "me").store("mine")
    service.change { $0.beforeEachCall = nil }
    #expect(service.items.count == 1)
    #expect(service.callCount("Delete") == 0)
    #expect(try keyring.container(for: "me").fetch(String.self) != nil)
  }

  @Test func attributesOfOtherProgramsStayWhateverTheyAreCalled() throws {
    let desktop = try Desktop()
    let foreign = try Foreign(desktop)
    let theirs = ["service": "github", "account": "me", "Path": "/home/x", "Uuid": "1234"]
    try foreign.store(Array("token".utf8), theirs)
    let credential = Credential<String>.service("github", account: "me", on: desktop)
    try credential.setAccount("you")
    let item = try #require(try credential.item)
    #expect(item["Path"] == "/home/x")
    #expect(item["Uuid"] == "1234")
  }

  @Test func anotherFormOfTheSameCharacterIsAnotherAccount() throws {
    let desktop = try Desktop()
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    let credential = Credential<String>.service("github", account: composed, on: desktop)
    try credential.save("token")
    try credential.setAccount(decomposed)
    #expect(try credential.load() == "token")
    #expect(
      try Credential<String>.service("github", account: decomposed, on: desktop).load() != nil)
    #expect(try Credential<String>.service("github", account: composed, on: desktop).load() == nil)
    let keyring = desktop.keyring("unicode")
    for account in [composed, decomposed] { try keyring.container(for: account).store(account) }
    #expect(try keyring.containers().count == 2)
  }

  @Test func oneJunkItemKeepsNobodyFromWriting() throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(.patient)
    try storage.save("value", forKey: "key")
    let header = try #require(desktop.service.items.first { $0.attributes["record"] == "header" })
    var attributes = header.attributes
    attributes["record"] = "zzz"
    _ = desktop.service.addItem(label: "junk", attributes: attributes, secret: [1])
    let fresh = desktop.storage(.patient, freshClient: true)
    #expect(try fresh.load(String.self, forKey: "key") == "value")
    try fresh.save("new", forKey: "key")
    #expect(try fresh.keys() == ["key"])
    try fresh.removeAll()
    #expect(try fresh.load(String.self, forKey: "key") == nil)
    // Where the name of a record could be, it may be one that is damaged.
    try fresh.save("value", forKey: "key")
    attributes["record"] = String(repeating: "0", count: 128)
    _ = desktop.service.addItem(label: "damaged", attributes: attributes, secret: [1])
    #expect(code { _ = try fresh.keys() } == .damaged)
  }

  @Test func aDamagedRecordKeepsNobodyFromHearingOfOthers() async throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(.patient)
    try storage.save(1, forKey: "key")
    try storage.save(1, forKey: "damaged")
    let other = desktop.storage(.patient, freshClient: true)
    #expect(try other.load(Int.self, forKey: "key") == 1)
    let names = Set(desktop.service.items.compactMap { $0.attributes["record"] })
    try storage.save(1, forKey: "third")
    let item = try #require(
      desktop.service.items.first { !names.contains($0.attributes["record"] ?? "header") })
    desktop.service.setSecret([1], of: item.path)
    let property = Keychain<Int>(storage, "key")
    var values = property.projectedValue.values.makeAsyncIterator()
    #expect(await values.next() == .some(1))
    for number in 2...5 {
      try other.save(number, forKey: "key")
      #expect(await values.next() == .some(number))
    }
    try desktop.service.restart()
    try desktop.storage(.patient, freshClient: true).save(6, forKey: "key")
    #expect(await values.next() == .some(6))
  }

  @Test func manyLongValuesAreReadInPieces() throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(.patient)
    let text = String(repeating: "x", count: 1_000_000)
    for number in 0..<70 { try storage.save(text, forKey: "\(number)") }
    let fresh = desktop.storage(.patient, freshClient: true)
    try fresh.save("more", forKey: "other")
    #expect(try fresh.keys().count == 71)
    #expect(code { try fresh.save(text + text, forKey: "long") } == .invalid)
  }

  @Test func anOldRecordUnderAnotherNameIsNotTold() async throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(.patient)
    try storage.save(1, forKey: "key")
    let old = try #require(desktop.service.items.first { $0.attributes["record"]?.count == 128 })
    let property = Keychain<Int>(storage, "key")
    var values = property.projectedValue.values.makeAsyncIterator()
    #expect(await values.next() == .some(1))
    try storage.save(2, forKey: "key")
    #expect(await values.next() == .some(2))
    var attributes = old.attributes
    attributes["record"] = String(repeating: "f", count: 128)
    _ = desktop.service.addItem(label: "copy", attributes: attributes, secret: old.secret)
    let other = desktop.storage(.patient, freshClient: true)
    try other.save(3, forKey: "key")
    #expect(await values.next() == .some(3))
    #expect(try storage.keys() == ["key"])
  }

  @Test(arguments: [20_000, 200_000])
  func aPropertyListOfEndlessDepthIsRefused(_ depth: Int) throws {
    let desktop = try FakeDesktop()
    let credential = SecureItem<[String]>(
      name: "item", encoder: PropertyListEncoder(), decoder: PropertyListDecoder(),
      access: access(desktop)
    ).projectedValue
    try credential.save(["a", "b"])
    #expect(try credential.load() == ["a", "b"])
    let item = try #require(desktop.service.items.first)
    let start = "<?xml version=\"1.0\"?><plist version=\"1.0\">"
    for secret in [
      Array((start + String(repeating: "<array>", count: depth)).utf8),
      HostilePropertyList.nested(depth), HostilePropertyList.withinItself,
      HostilePropertyList.doubled(40),
    ] {
      desktop.service.setSecret(secret, of: item.path)
      #expect(code { _ = try credential.load() } == .typeMismatch)
    }
  }

  // MARK: - The worst moment

  @Test func aRemovalWhoseAnswerIsLostIsNotTakenForAnothers() throws {
    let desktop = try FakeDesktop()
    let storage = desktop.storage(Self.patient)
    try storage.save("one-time token", forKey: "key")
    let service = desktop.service
    service.manners.faults["Delete"] = .carriesOutAndDies.only(1)
    // A watcher starts the service again, as D-Bus activation does.
    let restarting = Task.detached {
      while !Task.isCancelled {
        try await Task.sleep(for: .milliseconds(20))  // there is nothing to wait for
        do { try service.restart() } catch { continue }
      }
    }
    defer { restarting.cancel() }
    var seen: [String?] = []
    let failure = code {
      try storage.update(String.self, forKey: "key") { value in
        seen.append(value)
        value = nil
      }
    }
    #expect(seen == ["one-time token"])
    #expect(failure == nil || failure == .outcomeUnknown)
  }

  @Test func whoWaitsForAStoreThatDoesNotOpenIsToldWithTheFirst() throws {
    let desktop = try FakeDesktop(.init().with(.hangs, in: "SearchItems"))
    let storage = desktop.storage(KeyringAccess(deadline: .seconds(5), prompts: .never))
    let codes = Lock<[StorageError.Code?]>([])
    Threads.run(8) { _ in
      let found = code { _ = try storage.load(String.self, forKey: "key") }
      codes.withLock { $0.append(found) }
    }
    #expect(codes.withLock { $0 } == Array(repeating: .timedOut, count: 8))
    #expect(desktop.service.callCount("SearchItems") < 8)
  }

  @Test func aCredentialFollowsItsAccountWhateverOthersDo() throws {
    let desktop = try Desktop()
    let credential = Credential<String>.service("github", account: "a", on: desktop)
    try credential.save("0")
    let isDone = Lock(false)
    Threads.run(
      4,
      meanwhile: {
        for number in 0..<20 {
          do { try credential.setAccount(number.isMultiple(of: 2) ? "b" : "a") } catch {
            Issue.record(error)
          }
        }
        isDone.withLock { $0 = true }
      },
      { thread in
        var number = 0
        while !isDone.withLock({ $0 }) {
          number += 1
          do {
            if thread == 0 { try credential.save("\(number)") } else { try loadIsThere(credential) }
          } catch {
            Issue.record(error)
          }
        }
      })
    #expect(try credential.load() != nil)
    let all = try Credential<String>.service("github", on: desktop).items
    #expect(all.count == 1)
  }

  private func loadIsThere(_ credential: Credential<String>) throws {
    #expect(try credential.load() != nil)
  }

  // MARK: - Listening

  @Test func aListenerAsksForNoSecretsOfOthers() async throws {
    let desktop = try FakeDesktop()
    for number in 0..<20 {
      _ = desktop.service.addItem(
        label: "other", attributes: ["number": "\(number)"], secret: Array("x".utf8))
    }
    let credential = SecureCredentials<String>(
      service: "github", account: "me", access: access(desktop)
    ).projectedValue
    try credential.save("token")
    desktop.service.forgetCalls()
    var values = credential.values.makeAsyncIterator()
    #expect(await values.next() == .some("token"))
    #expect(desktop.service.callCount("GetSecrets") <= 2)
  }

  @Test(.ownDaemon)
  func aSecretThatIsSetInAnothersItemIsToldToOtherProgramsToo() async throws {
    let desktop = try Desktop()
    let foreign = try Foreign(desktop)
    try foreign.store(Array("first".utf8), ["service": "github", "more": "1"])
    let credential = Credential<String>.service("github", on: desktop)
    var values = credential.values.makeAsyncIterator()
    #expect(await values.next() == .some("first"))
    let elsewhere = KeyringAccess(deadline: .seconds(60), prompts: .never, bus: desktop.address)
    let other = SecureCredentials<String>(service: "github", access: elsewhere)
    try other.projectedValue.save("second")
    #expect(await values.next() == .some("second"))
  }
}

/// Binary property lists that Foundation's decoder does not survive.
enum HostilePropertyList {
  /// Arrays within each other.
  static func nested(_ depth: Int) -> [UInt8] {
    binary((0..<depth).map { [$0 + 1] } + [[]])
  }

  /// An array that holds itself.
  static let withinItself = binary([[0]])

  /// Arrays that each hold the next one twice.
  static func doubled(_ depth: Int) -> [UInt8] {
    binary((0..<depth).map { [$0 + 1, $0 + 1] } + [[]])
  }

  private static func word(_ number: Int, _ size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  private static func binary(_ arrays: [[Int]]) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [Int] = []
    for members in arrays {
      offsets.append(bytes.count)
      bytes.append(0xA0 | UInt8(members.count))
      for member in members { bytes += word(member, 4) }
    }
    let table = bytes.count
    for offset in offsets { bytes += word(offset, 4) }
    return bytes + [0, 0, 0, 0, 0, 0, 4, 4] + word(arrays.count, 8) + word(0, 8) + word(table, 8)
  }
}
