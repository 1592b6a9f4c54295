import CryptoCore
import Dispatch
import Foundation
import Observation
import ProviderBackend
import StorageCore
import StorageTesting
import TestSupport
import Testing

struct ProviderStorageTests {
  private struct Limits: Codable, Equatable, Sendable { var requests = 1 }
  private let provider = TestProvider()
  private let key = KeySource.key(SymmetricKey(size: .bits256))

  private func sealed(_ deadline: Duration = .seconds(60)) -> ProviderStorage {
    ProviderStorage(provider, keySource: key, deadline: deadline)
  }
  private func plain() -> ProviderStorage {
    ProviderStorage(plain: provider, deadline: .seconds(60), errorClosure: { _ in })
  }

  @Test(arguments: DelegatePromise.all(of: ProviderDelegate.self))
  func theDelegateKeeps(_ promise: DelegatePromise) throws {
    try promise.check {
      ProviderDelegate(TestProvider(), deadline: .seconds(60), polling: nil)
    }
  }

  // MARK: - Discarding

  @Test(arguments: ["", "header", "names"]) func aStoreIsDiscardedWhateverTheProviderHas(
    _ broken: String
  ) throws {
    for index in 0..<5 { try sealed().save(index, forKey: "k\(index)") }
    let data = broken == "names" ? Data(repeating: 1, count: 63) : Data("no header".utf8)
    if broken != "" { provider.replace("SecurePropertyStorage.\(broken)", with: data) }
    let other = ProviderStorage(
      provider, keySource: .key(SymmetricKey(size: .bits256)), deadline: .seconds(60))
    let live = Live<Int?, ProviderStorage>(other, "k1")
    #expect(live.wrappedValue == nil)
    try other.discard()
    if broken != "names" { #expect(provider.contents.isEmpty) }
    live.wrappedValue = 7
    #expect(try other.load(Int.self, forKey: "k1") == 7)
    #expect(try other.keys() == ["k1"])
  }

  @Test func aPlainStoreThatCanNotBeListedIsNotDiscarded() throws {
    let storage = plain()
    @CodableStore(storage, "limits") var limits: Limits?
    limits = Limits()
    #expect(throws: StorageError.self) { try storage.discard() }
    #expect(limits == Limits())
  }

  // MARK: - Sealed

  @Test func nothingIsInTheClear() throws {
    let storage = sealed()
    @Live(storage, "account-name") var live: String?
    live = "plain-text-value"
    try storage.save("plain-text-value", forKey: "another-name")
    @CodableStore(storage, "limits") var limits: Limits?
    limits = Limits(requests: 4711)
    #expect(provider.contents.count == 5)
    for (key, data) in provider.contents {
      for secret in ["account-name", "another-name", "plain-text-value", "limits", "requests"] {
        #expect(!key.contains(secret))
        #expect(data.range(of: Data(secret.utf8)) == nil)
      }
    }
  }

  @Test func aNewProcessReadsWhatIsThere() throws {
    do {
      let storage = sealed()
      try storage.save(1, forKey: "one")
      try storage.save("two", forKey: "two")
    }
    let storage = sealed()
    #expect(try storage.load(Int.self, forKey: "one") == 1)
    #expect(try storage.keys().sorted() == ["one", "two"])
    _ = try storage.keyAdministration.rotateDataKey()
    #expect(try storage.load(String.self, forKey: "two") == "two")
    try storage.removeAll()
    #expect(try storage.keys().isEmpty)
    let stranger = ProviderStorage(
      provider, keySource: .key(SymmetricKey(size: .bits256)), deadline: .seconds(60))
    #expect(throws: StorageError.self) { try stranger.load(Int.self, forKey: "one") }
  }

  enum Withheld: CaseIterable, Sendable { case list, halfOfTheList, records }

  /// A provider that shows less than it has while keys are replaced, and all of it afterwards.
  @Test(arguments: Withheld.allCases, [true, false])
  func whatTheProviderWithholdsDuringARotationIsNotLost(
    _ withheld: Withheld, _ isDataKeyAlone: Bool
  ) throws {
    let storage = sealed()
    for index in 0..<8 { try storage.save(index, forKey: "\(index)") }
    let before = provider.contents
    let (listKey, list) = try #require(before.first { $0.key.hasSuffix(".names") })
    let records = before.filter { $0.key.count == 128 }
    switch withheld {
    case .list: provider.replace(listKey, with: nil)
    case .halfOfTheList: provider.replace(listKey, with: list.prefix(list.count / 2))
    case .records: for record in records.prefix(4) { provider.replace(record.key, with: nil) }
    }
    let report =
      isDataKeyAlone
      ? try storage.keyAdministration.rotateDataKey() : try storage.keyAdministration.rotate()
    let hidden = 8 - report.reencrypted
    #expect(hidden == (withheld == .list ? 8 : 4))
    provider.replace(listKey, with: list)
    for (key, data) in records where provider.contents[key] == nil {
      provider.replace(key, with: data)
    }
    let next = sealed()
    #expect(try next.listing().unreadable == hidden)
    let back = try next.keyAdministration.reencrypt(readmitting: true)
    #expect(back.reencrypted == hidden && back.setAside == 0)
    for index in 0..<8 { #expect(try next.load(forKey: "\(index)") == index) }
  }

  /// A name that is added while the list is withheld begins a new one.
  @Test func aListThatWasBegunAnewIsFilledByTheNamesThatAreExpected() throws {
    let storage = sealed()
    for index in 0..<4 { try storage.save(index, forKey: "\(index)") }
    let list = try #require(provider.contents.keys.first { $0.hasSuffix(".names") })
    provider.replace(list, with: nil)
    try storage.save("new", forKey: "new")
    _ = try storage.keyAdministration.rotate()
    #expect(throws: StorageError.self) { try storage.load(Int.self, forKey: "2") }
    let report = try storage.keyAdministration.reencrypt(
      readmitting: true, expecting: (0..<4).map(String.init))
    #expect(report.reencrypted == 4)
    for index in 0..<4 { #expect(try storage.load(forKey: "\(index)") == index) }
    #expect(try sealed().keys().count == 5)
  }

  @Test func noKeyIsMadeOverDataWhoseHeaderIsGone() throws {
    try sealed().save(1, forKey: "key")
    let header = try #require(provider.contents.keys.first { $0.hasSuffix(".header") })
    provider.replace(header, with: nil)
    #expect(throws: StorageError.self) { try sealed().save(2, forKey: "key") }
    #expect(provider.contents[header] == nil)
  }

  @Test func falseIsAnErrorAndChangesNothing() throws {
    let storage = sealed()
    @Live(storage, "key") var live = 0
    live = 1
    provider.refuse()
    #expect(throws: StorageError.self) { try $live.save(2) }
    #expect(throws: StorageError.self) { try $live.remove() }
    #expect(live == 1)
    #expect($live.state == .value(1))
    provider.refuse(false)
    live = 3
    #expect(live == 3)
    #expect(try sealed().load(Int.self, forKey: "key") == 3)
  }

  @Test func aRemovalThatWasMadeInPartIsFollowedAndSaid() throws {
    let storage = sealed()
    @Live(storage, "token") var live: String?
    live = "secret"
    try storage.save(1, forKey: "other")
    provider.refuse { $0.hasSuffix(".names") }
    let error = #expect(throws: StorageError.self) { try $live.remove() }
    #expect(error?.code == .outcomeUnknown)
    #expect(live == nil)
    #expect($live.state == .absent)
    #expect(try sealed().load(String.self, forKey: "token") == nil)
    provider.refuse(false)
    let list = { try #require(provider.contents.first { $0.key.hasSuffix(".names") }).value.count }
    let length = try list()
    try $live.remove()
    #expect(try list() == length / 2)
    #expect(try storage.keys() == ["other"])
  }

  @Test func storagesOverProvidersMadeAnewAreInStep() throws {
    let storages = (0..<2).map { _ in
      ProviderStorage(SilentProvider(base: provider), keySource: key, deadline: .seconds(60))
    }
    @Live(storages[0], "key") var one = 0
    @Live(storages[1], "key") var two = 0
    // Neither has a header yet.
    #expect(one == 0 && two == 0)
    one = 1
    #expect(two == 1)
    two += 1
    #expect(one == 2)
    try storages[0].update(Int.self, forKey: "key") { $0 = ($0 ?? 0) + 1 }
    #expect(two == 3)
    _ = try storages[1].keyAdministration.rotate()
    two += 1
    #expect(one == 4)
    try storages[0].removeAll()
    #expect(two == 0)
  }

  private final class EqualProvider: KeychainProvider, Hashable {
    let (service, base): (String, TestProvider)

    init(_ service: String, _ base: TestProvider) { (self.service, self.base) = (service, base) }
    static func == (one: EqualProvider, two: EqualProvider) -> Bool { one.service == two.service }
    func hash(into hasher: inout Hasher) { hasher.combine(service) }
    func setData(_ data: Data, forKey key: String) -> Bool { base.setData(data, forKey: key) }
    func deleteData(forKey key: String) -> Bool { base.deleteData(forKey: key) }
    func getData(forKey key: String) -> Data? { base.getData(forKey: key) }
  }

  @Test func equalProvidersAreOnePlaceAndTakeTurns() throws {
    let service = UUID().uuidString
    let storages = (0..<2).map { _ in
      ProviderStorage(
        EqualProvider(service, provider), keySource: key, deadline: .seconds(60))
    }
    let other = ProviderStorage(
      EqualProvider(service + "!", TestProvider()), keySource: key, deadline: .seconds(60))
    let live = storages.map { Live(wrappedValue: 0, $0, "count") }
    let stranger = Live(wrappedValue: 0, other, "count")
    #expect(live[0].live === live[1].live)
    #expect(stranger.wrappedValue == 0)
    Threads.run(8) { thread in
      for _ in 0..<20 {
        do {
          try storages[thread % 2].update(Int.self, forKey: "count") { $0 = ($0 ?? 0) + 1 }
        } catch {
          Issue.record(error)
        }
      }
    }
    #expect(provider.insideAtMost == 1)
    #expect(live[0].wrappedValue == 160 && live[1].wrappedValue == 160)
    #expect(stranger.wrappedValue == 0)
  }

  // MARK: - Behind the storage's back

  @Test func aProviderTellsOfOthersChanges() async throws {
    let provider = TestProvider(tells: true)
    let live = Live(
      wrappedValue: 0, ProviderStorage(plain: provider, deadline: .seconds(60)), "key")
    #expect(live.wrappedValue == 0)
    provider.replace("key", with: Data("7".utf8))
    for await value in Observations({ live.wrappedValue }) where value == 7 { break }
    provider.replace("key", with: nil)
    for await value in Observations({ live.wrappedValue }) where value == 0 { break }
  }

  @Test func pollingFindsOthersChanges() async throws {
    let storage = ProviderStorage(
      plain: SilentProvider(base: provider), polling: .milliseconds(10), deadline: .seconds(60))
    let live = Live(wrappedValue: 0, storage, "key")
    #expect(live.wrappedValue == 0)
    provider.replace("key", with: Data("7".utf8))
    for await value in Observations({ live.wrappedValue }) where value == 7 { break }
  }

  @Test func aReadOfTheKeyFindsOthersChanges() throws {
    let storage = plain()
    @Live(storage, "key") var live = 0
    #expect(live == 0)
    provider.replace("key", with: Data("7".utf8))
    #expect(live == 0)
    #expect(try storage.load(decodable: Int.self, forKey: "key") == 7)
    #expect(live == 7)
  }

  // MARK: - Plain

  @Test func aPlainStorageKeepsNamesAndJSON() throws {
    let storage = plain()
    @Live(storage, "count") var count = 0
    @Live(storage, "limits") var limits: Limits?
    count = 5
    limits = Limits(requests: 2)
    #expect(provider.contents["count"] == Data("5".utf8))
    #expect(provider.contents["limits"] == Data(#"{"requests":2}"#.utf8))
    #expect(provider.contents.count == 2)
    @CodableStore(plain(), "limits") var other: Limits?
    #expect(other == Limits(requests: 2))
    limits = nil
    #expect(provider.contents["limits"] == nil)
    #expect(other == nil)
  }

  @Test func aPlainStorageSaysWhatItDoesNotKeep() throws {
    let storage = plain()
    let refusal = #expect(throws: StorageError.self) { try storage.save(1, forKey: "key") }
    #expect(refusal?.code == .unsupported)
    #expect(provider.contents.isEmpty)
    provider.replace("key", with: Data("not JSON".utf8))
    @Live(storage, "key") var live = 0
    #expect(live == 0)
    #expect($live.state != .absent)
    live = 1
    #expect(provider.contents["key"] == Data("not JSON".utf8))
    try $live.remove()
    live = 1
    #expect(provider.contents["key"] == Data("1".utf8))
  }

  @Test func falseChangesNothingInAPlainStorage() throws {
    let storage = plain()
    @Live(storage, "key") var live = 0
    live = 1
    provider.refuse()
    live = 2
    #expect(live == 1)
    provider.refuse(false)
    #expect(provider.contents["key"] == Data("1".utf8))
  }
}
