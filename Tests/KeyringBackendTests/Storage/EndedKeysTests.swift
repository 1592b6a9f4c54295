import CryptoCore
import Foundation
import KeyringTesting
import SingletonBackend
import StorageCore
import StorageTesting
import Testing

@testable import KeyringBackend

/// What somebody does who has the data keys of before a rotation, and may write to the keyring.
@Suite(.timeLimit(.minutes(30))) struct EndedKeysTests {
  private static let oldSource = KeySource.key(SymmetricKey(data: Data(repeating: 5, count: 32)))
  private static let newSource = KeySource.key(SymmetricKey(data: Data(repeating: 9, count: 32)))

  /// A keyring, real or a fake, in which one service has its values.
  private struct Place {
    let service = Desktop.freshService()
    let client: KeyringClient
    /// Another program's way to it.
    let other: KeyringClient
    /// What it takes to keep the bus.
    let bus: any Sendable

    init(isReal: Bool) throws {
      if isReal {
        let desktop = try Desktop()
        (client, other, bus) = (desktop.client, desktop.anotherClient(), desktop)
      } else {
        let desktop = try FakeDesktop()
        let address = desktop.bus.address
        client = desktop.client
        other = KeyringClient { () throws(StorageError) in address }
        bus = desktop
      }
    }

    func storage(_ source: KeySource = EndedKeysTests.oldSource) -> KeychainStorage {
      KeychainStorage(
        accessGroup: nil, synchronizable: false, accessible: .whenUnlocked, keySource: source,
        access: .patient, client: client
      ) { [service] in service }
    }

    /// Writes to the items as they are, without any key.
    var raw: KeyringDelegate {
      KeyringDelegate(access: .patient, client: other) { [service] () throws(StorageError) in
        service
      }
    }

    func records() throws -> [NameHash: [UInt8]] {
      var records: [NameHash: [UInt8]] = [:]
      for name in try raw.names() { records[name] = try raw.record(for: name) }
      return records
    }

    /// 66 bytes that name data key 1, under a name that nobody uses.
    func plantJunk() throws {
      let name = try #require(NameHash([UInt8](repeating: 0xA5, count: 64)))
      try raw.set([1, 1, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 60), for: name)
    }

    /// A copy of all items, of somebody who has the old key.
    func copied() throws -> CopiedStore {
      let copy = CopiedStore(place: service)
      let header = try raw.header().header
      _ = try copy.updateHeader { (bytes, _) throws(StorageError) in bytes = header }
      for (name, record) in try records() { try copy.set(record, for: name) }
      return copy
    }
  }

  /// What is forged with the old key: the one record that differs afterwards.
  private func forged(
    _ value: String, _ key: String, in copy: CopiedStore
  ) throws -> (NameHash, [UInt8]) {
    let storage = DelegatedStorage(copy, keySource: Self.oldSource, errorClosure: { _ in })
    var before: [NameHash: [UInt8]] = [:]
    for name in try copy.names() { before[name] = try copy.record(for: name) }
    try storage.save(value, forKey: key)
    for name in try copy.names() {
      let record = try #require(try copy.record(for: name))
      if before[name] != record { return (name, record) }
    }
    throw StorageError(.invalid, "nothing was written")
  }

  @Test(arguments: [true, false], ["revoked", "forged"])
  func aListenerGetsNothingOfKeysThatEnded(_ isReal: Bool, _ kind: String) async throws {
    let place = try Place(isReal: isReal)
    let storage = place.storage()
    try storage.save("revoked", forKey: "key")
    let copy = try place.copied()
    var (name, planted) = try #require(try place.records().first)
    try storage.save("current", forKey: "key")
    let property = Keychain<String>(storage, "key")
    var states = property.projectedValue.states.makeAsyncIterator()
    #expect(await states.next() == .value("current"))
    let report = try await storage.keyAdministration.async {
      try $0.rotate(openedBy: Self.newSource)
    }
    #expect(report.remaining == 0 && report.setAside == 0 && report.reencrypted == 1)
    if kind == "forged" { (name, planted) = try forged("forged", "key", in: copy) }
    try place.raw.set(planted, for: name)
    var state = await states.next()
    while state == .value("current") { state = await states.next() }
    guard case .failed(let error) = state else {
      Issue.record("told: \(String(describing: state))")
      return
    }
    #expect(error.code == .damaged && error.key == "key")
    let next = place.storage(Self.newSource)
    #expect(code { _ = try next.load(String.self, forKey: "key") } == .damaged)
    #expect(code { _ = try storage.load(String.self, forKey: "key") } == .damaged)
    try storage.save("next", forKey: "key")
    #expect(await states.next() == .value("next"))
  }

  /// An item whose secret is not even that of a record.
  @Test func anItemThatHoldsNoRecordDoesNotKeepAKeyThatLeaked() throws {
    let place = try Place(isReal: false)
    let storage = place.storage()
    for index in 0..<5 { try storage.save("value \(index)", forKey: "key \(index)") }
    let copy = try place.copied()
    let service = try #require(place.bus as? FakeDesktop).service
    var attributes = try #require(service.items.last).attributes
    attributes["record"] = String(repeating: "a5", count: 64)
    _ = service.addItem(label: "junk", attributes: attributes, secret: [1])
    let report = try storage.keyAdministration.rotate(openedBy: Self.newSource)
    #expect(report.reencrypted == 5 && report.remaining == 0 && report.setAside == 1)
    let (name, planted) = try forged("forged", "key 3", in: copy)
    try place.raw.set(planted, for: name)
    let next = place.storage(Self.newSource)
    #expect(code { _ = try next.load(String.self, forKey: "key 3") } == .damaged)
    #expect(try next.load(String.self, forKey: "key 2") == "value 2")
  }

  @Test(arguments: [true, false]) func junkDoesNotKeepAKeyThatLeaked(_ isReal: Bool) throws {
    let place = try Place(isReal: isReal)
    let storage = place.storage()
    for index in 0..<5 { try storage.save("value \(index)", forKey: "key \(index)") }
    let copy = try place.copied()
    try place.plantJunk()
    let report = try storage.keyAdministration.rotate(openedBy: Self.newSource)
    #expect(report.reencrypted == 5 && report.remaining == 0 && report.setAside == 1)
    let (name, planted) = try forged("forged", "key 3", in: copy)
    try place.raw.set(planted, for: name)
    let next = place.storage(Self.newSource)
    #expect(code { _ = try next.load(String.self, forKey: "key 3") } == .damaged)
    let again = try next.keyAdministration.reencrypt()
    #expect(again.reencrypted == 0 && again.setAside == 2 && again.setAsideKeys == ["key 3"])
    #expect(
      code { _ = try place.storage(Self.newSource).load(String.self, forKey: "key 3") } == .damaged)
    #expect(try next.load(String.self, forKey: "key 2") == "value 2")
    // Somebody has looked, and says that it is theirs.
    #expect(try next.keyAdministration.reencrypt(readmitting: true).reencrypted == 1)
    #expect(try next.load(String.self, forKey: "key 3") == "forged")
  }
}

/// A copy of a store, which is of the place where it was.
private final class CopiedStore: ForwardingPlace {
  let base = SingletonStorageDelegate()
  private let name: String

  init(place: String) { name = place }

  func place() throws(StorageError) -> String { name }
}
