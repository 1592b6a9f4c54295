import CryptoCore
import Dispatch
import Foundation
import LocalData
import Testing

/// A provider whose answers a test decides.
private final class TestProvider: KeyMaterialProviding {
  struct Refusal: Error, CustomStringConvertible { let description = "material-5e1f0b" }
  enum Answer: Sendable {
    case material(Data)
    case refusal
    case error(StorageError)
    case never
    case block(DispatchSemaphore)
  }
  private let answer: Lock<Answer>
  private let former = Lock<[Data]>([])
  private let asked = Lock<[String]>([])

  init(_ answer: Answer) { self.answer = Lock(answer) }

  func set(_ answer: Answer, former: [Data] = []) {
    self.answer.withLock { $0 = answer }
    self.former.withLock { $0 = former }
  }

  var names: [String] { asked.withLock { $0 } }

  func keyMaterial(for keyName: String) async throws -> Data {
    asked.withLock { $0.append(keyName) }
    switch answer.withLock({ $0 }) {
    case .material(let data): return data
    case .refusal: throw Refusal()
    case .error(let error): throw error
    case .never:
      try await Task.sleep(for: .seconds(3600))
      return Data()
    case .block(let semaphore):
      Self.wait(semaphore)
      return Data(repeating: 1, count: 32)
    }
  }

  /// Blocks the thread, as a careless provider does.
  private static func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }

  func formerKeyMaterial(for keyName: String) async throws -> [Data] { former.withLock { $0 } }
}

@Suite struct ProviderTests {
  private let folder = TestFolder()
  private let source = KeyMaterialSource(id: "remote.key")
  private let one = Data(repeating: 1, count: 32)
  private let two = Data(repeating: 2, count: 32)

  private func externalKey(
    _ name: String = "x", _ domain: StorageDomain = .userDefaults,
    _ derivation: SecurityPolicy.KeyDerivation = .hkdf()
  ) -> StoredKey<String> {
    key(name, domain, .encrypted(.external(source: source, keyDerivation: derivation)))
  }

  private func router(
    _ provider: TestProvider, deadline: Duration = .seconds(600)
  ) async -> StorageRouter {
    let router = folder.router()
    await router.updateEncryptionConfiguration(
      EncryptionConfiguration(keyMaterialDeadline: deadline))
    await router.registerKeyMaterialProvider(provider, for: source)
    return router
  }

  @Test(arguments: Combination.plainDomains + Combination.sealingDomains)
  func aProvidersKeyProtectsEveryDomain(_ domain: StorageDomain) async throws {
    let provider = TestProvider(.material(one))
    for derivation in [
      SecurityPolicy.KeyDerivation.hkdf(), .pbkdf2(iterations: 10, salt: Data([1])),
    ] {
      let key = externalKey("secret", domain, derivation)
      let router = await router(provider)
      try await router.set("marker-77", for: key)
      #expect(try await router.get(key) == "marker-77")
      try await router.update(key) { $0 = ($0 ?? "") + "!" }
      #expect(try await router.get(key) == "marker-77!")
      #expect(!folder.holds("marker-77"))
      try await router.remove(key)
    }
    #expect(Set(provider.names) == ["secret"])
  }

  @Test func aKeyWithoutAProviderIsRefused() async {
    #expect(await code { _ = try await folder.router().get(externalKey()) } == .keyUnavailable)
    #expect(
      await code { try await folder.router().set("1", for: externalKey()) } == .keyUnavailable)
  }

  @Test func anAbsentValueNeedsNoProvider() async throws {
    let provider = TestProvider(.refusal)
    #expect(try await router(provider).get(externalKey()) == nil)
    #expect(provider.names.isEmpty)
  }

  @Test func whatAProviderThrowsIsPassedOnWithoutItsText() async throws {
    let provider = TestProvider(.material(one))
    let router = await router(provider)
    try await router.set("1", for: externalKey())
    provider.set(.refusal)
    let error = try #require(await error { _ = try await router.get(externalKey()) })
    #expect(error.code == .keyUnavailable)
    #expect(!error.description.contains("5e1f0b"))
    provider.set(.error(StorageError(.locked, "the token is locked")))
    #expect(await code { _ = try await router.get(externalKey()) } == .locked)
    #expect(await code { try await router.set("2", for: externalKey()) } == .locked)
    provider.set(.material(Data()))
    #expect(await code { _ = try await router.get(externalKey()) } == .keyUnavailable)
    #expect(await code { try await router.set("2", for: externalKey()) } == .keyUnavailable)
    provider.set(.material(one))
    #expect(try await router.get(externalKey()) == "1")
  }

  @Test func anotherKeyOpensNothingAndReplacesNothing() async throws {
    let provider = TestProvider(.material(one))
    let router = await router(provider)
    try await router.set("1", for: externalKey())
    provider.set(.material(two))
    #expect(await code { _ = try await router.get(externalKey()) } == .wrongKey)
    #expect(await code { try await router.set("2", for: externalKey()) } == .wrongKey)
    #expect(await code { try await router.update(externalKey()) { $0 = "2" } } == .wrongKey)
    provider.set(.material(one))
    #expect(try await router.get(externalKey()) == "1")
    provider.set(.material(two))
    try await router.remove(externalKey())
    try await router.set("2", for: externalKey())
    #expect(try await router.get(externalKey()) == "2")
  }

  @Test func aProviderThatReplacedItsKeyGivesTheFormerOne() async throws {
    let provider = TestProvider(.material(one))
    let router = await router(provider)
    try await router.set("1", for: externalKey())
    provider.set(.material(two), former: [Data(repeating: 3, count: 32), one])
    #expect(try await router.get(externalKey()) == "1")
    try await router.set("2", for: externalKey())
    provider.set(.material(two))
    #expect(try await router.get(externalKey()) == "2")
  }

  @Test(arguments: [TestProviderKind.never, .blocking])
  func aProviderThatHangsIsTimedOut(_ kind: TestProviderKind) async throws {
    let semaphore = DispatchSemaphore(value: 0)
    defer { for _ in 0..<8 { semaphore.signal() } }
    let provider = TestProvider(.material(one))
    let patient = await router(provider)
    try await patient.set("1", for: externalKey())
    let hasty = await router(provider, deadline: .milliseconds(100))
    provider.set(kind == .never ? .never : .block(semaphore))
    #expect(await code { _ = try await hasty.get(externalKey()) } == .timedOut)
    #expect(await code { try await hasty.set("2", for: externalKey()) } == .timedOut)
    provider.set(.material(one))
    #expect(try await patient.get(externalKey()) == "1")
  }

  enum TestProviderKind: Sendable { case never, blocking }

  @Test func aCancelledTaskWaitsForNoProvider() async throws {
    let provider = TestProvider(.material(one))
    let router = await router(provider)
    try await router.set("1", for: externalKey())
    provider.set(.never)
    let task = Task { [source] in
      await code {
        _ = try await router.get(
          key("x", .userDefaults, .encrypted(.external(source: source))) as StoredKey<String>)
      }
    }
    while provider.names.count < 2 { await Task.yield() }
    task.cancel()
    #expect(await task.value == .cancelled)
  }

  @Test func sixteenHungCallsDelayNoOtherKey() async throws {
    let semaphore = DispatchSemaphore(value: 0)
    let provider = TestProvider(.material(one))
    let router = await router(provider)
    let fast = key("fast", .keychain(service: "s"))
    try await router.set("quick", for: fast)
    for index in 0..<16 { try await router.set("1", for: externalKey("x\(index)")) }
    let before = provider.names.count
    provider.set(.block(semaphore))
    let hung = (0..<16).map { index in
      Task { [source] in
        try await router.get(
          key("x\(index)", .userDefaults, .encrypted(.external(source: source)))
            as StoredKey<String>)
      }
    }
    while provider.names.count < before + 16 { try await Task.sleep(for: .milliseconds(1)) }
    let slowest = try await Patience.slowestOfTheBestTen { _ in
      let found = try await router.get(fast)
      #expect(found == "quick")
    }
    for _ in 0..<16 { semaphore.signal() }
    for task in hung { #expect(try await task.value == "1") }
    #expect(slowest < .milliseconds(10))
  }

  @Test func anUpdateSealsUnderTheMaterialThatOpenedTheValue() async throws {
    struct Fickle: KeyMaterialProviding {
      let answers: Lock<[UInt8]>
      func keyMaterial(for keyName: String) async throws -> Data {
        Data(
          repeating: answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }, count: 32)
      }
    }
    let folder = TestFolder()
    let source = KeyMaterialSource(id: "fickle")
    let key = key(
      "x", .userDefaults, .encrypted(.external(source: source, keyDerivation: .hkdf())))
    let answers = Lock<[UInt8]>([1])
    let router = folder.router()
    await router.registerKeyMaterialProvider(Fickle(answers: answers), for: source)
    try await router.set("1", for: key)
    answers.withLock { $0 = [1, 2] }
    try await router.update(key) { $0 = "2" }
    answers.withLock { $0 = [1] }
    #expect(try await router.get(key) == "2")
  }

  /// A provider that reads a value of the router that asks it.
  private struct ReadingProvider: KeyMaterialProviding {
    let router: StorageRouter
    let key: StoredKey<String>

    func keyMaterial(for keyName: String) async throws -> Data {
      _ = try await router.get(key)
      return Data(repeating: 1, count: 32)
    }
  }

  @Test
  func aProviderThatReadsTheValueItIsAskedForIsRefusedAtOnce() async throws {
    let router = folder.router()
    let sealed = externalKey("x")
    await router.registerKeyMaterialProvider(TestProvider(.material(one)), for: source)
    try await router.set("1", for: sealed)
    await router.registerKeyMaterialProvider(
      ReadingProvider(router: router, key: sealed), for: source)
    let calls: [() async throws -> Void] = [
      { _ = try await router.get(sealed) }, { try await router.set("2", for: sealed) },
      { try await router.update(sealed) { $0 = "2" } },
    ]
    for call in calls {
      let refusal = await error { try await call() }
      #expect(refusal?.code == .invalid && refusal?.key == "x")
      #expect(refusal?.message.contains("the provider remote.key used the value \"x\"") == true)
    }
    // Another value is no re-entry.
    let plain = key("plain", .userDefaults, .none)
    try await router.set("p", for: plain)
    await router.registerKeyMaterialProvider(
      ReadingProvider(router: router, key: plain), for: source)
    #expect(try await router.get(sealed) == "1")
  }
}
