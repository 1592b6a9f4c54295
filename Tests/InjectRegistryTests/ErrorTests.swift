import InjectRegistry
import Testing

@Suite struct ErrorTests {
  private let owner = OwnStorage()
  private var storage: InjectStorage { owner.storage }

  private func error(_ body: () throws -> Void) throws -> InjectError {
    let error = #expect(throws: InjectError.self) { try body() }
    return try #require(error)
  }

  @Test(.ownRegistry) func aMissingDependencyNamesTypeQualifiersGroupPlaceAndMend() throws {
    @Inject((any Dog).self, group: "zoo") var dog: (any Animal)?
    let error = try error { _ = try $dog.resolve() }
    let text = error.description
    #expect(error.dependency == "any InjectRegistryTests.Animal")
    #expect(error.location?.fileID == "InjectRegistryTests/ErrorTests.swift")
    for part in [
      "nothing is registered for `any InjectRegistryTests.Animal`", "InjectRegistryTests.Dog",
      "\"zoo\"", "InjectRegistryTests/ErrorTests.swift:\(error.location?.line ?? 0)",
      "@Register var dependency: any Animal = YourImplementation()", "errorClosure",
    ] { #expect(text.contains(part), "\(text)") }
  }

  @Test func anAmbiguousOneNamesBothPlaces() throws {
    storage.register(Client() as any API)
    storage.register(Client() as any API)
    let error = try error { _ = try storage.resolve((any API).self) }
    #expect(error.candidates.count == 2 && Set(error.candidates).count == 2)
    #expect(error.description.contains("@Inject(Special.self) var dependency: (any API)?"))
  }

  @Test func aBuilderThatFailsIsNamedWithItsErrorAndThePath() throws {
    let storage = storage
    storage.register { () throws -> Client in throw Refused("no network") }
    storage.register { () throws -> any API in try storage.resolve(Client.self) }
    let error = try error { _ = try storage.resolve((any API).self) }
    #expect(error.code == .builderFailed)
    let inner = error.underlying as? InjectError
    #expect(inner?.underlying is Refused && inner?.path.count == 2)
    #expect(error.description.contains("no network"))
  }

  @Test func patternsTellTheKindsApart() {
    let error: any Error = #expect(throws: InjectError.self) { try storage.resolve(Int.self) }!
    if case InjectError.notFound = error {} else { Issue.record("it is notFound") }
    if case InjectError.moreThanOne = error { Issue.record("it is not moreThanOne") }
    if case InjectError.notFound = Refused() as any Error { Issue.record("it is another's error") }
    do {
      _ = try storage.resolve(Int.self)
    } catch InjectError.notFound {
    } catch {
      Issue.record("it is notFound")
    }
  }

  @Test func validateTellsAllFaultsAtOnce() throws {
    let storage = storage
    storage.register { () throws -> Client in throw Refused("one") }
    storage.register { () throws -> any API in try storage.resolve(Counter.self) as! any API }
    storage.register { (count: Int) in Tabby() }
    storage.register { Terrier() }
    storage.register { () async -> Mastiff in Mastiff() }
    let faults = #expect(throws: InjectFaults.self) { try storage.validate() }
    #expect(faults?.errors.map(\.code) == [.builderFailed, .builderFailed, .needsAwait])
    #expect(faults?.description.hasPrefix("3 faults") == true)
  }

  @Test func validateBuildsAndFindsNothingToSayWhereAllIsWell() async throws {
    let count = Counter()
    storage.register { () -> Client in
      count.add()
      return Client()
    }
    storage.register { () async -> Mastiff in Mastiff() }
    try await storage.validateAsync()
    #expect(count.value == 1)
    try storage.validate()
    #expect(count.value == 1)
  }

  @Test(.ownRegistry) func validateResolvesTheInjectionsThatWereSeen() throws {
    enum Nobody: Sendable {}
    @Inject var missing: Nobody?
    let faults = #expect(throws: InjectFaults.self) { try InjectStorage.validate() }
    let names = try #require(faults).errors.map(\.dependency)
    #expect(names.contains { $0.contains("Nobody") })
  }
  @Test(.ownRegistry) func validateTellsOfABuilderThatFailsOnceAndWhereItIsInjected() async throws {
    final class Failing: Sendable {}
    let tries = Counter()
    @Register var failing = { () throws -> Failing in throw Refused("try \(tries.add())") }
    @Inject var plain: Failing?
    @Inject(.instance) var fresh: Failing?
    @Inject(group: "zoo") var ofAGroup: Failing?
    @Inject((any Dog).self) var special: Failing?
    func check(_ faults: InjectFaults?) throws {
      let errors = try #require(faults).errors.filter { $0.dependency.contains("Failing") }
      #expect(errors.map(\.code) == [.builderFailed])
      let texts = errors.map(\.description)
      let file = "InjectRegistryTests/ErrorTests.swift"
      #expect(texts.allSatisfy { $0.contains("injected at     \(file)") }, "\(texts)")
      #expect(texts.allSatisfy { $0.contains("Failing` at \(file)") }, "\(texts)")
    }
    try check(#expect(throws: InjectFaults.self) { try InjectStorage.validate() })
    try check(
      await #expect(throws: InjectFaults.self) { try await InjectStorage.validateAsync() })
  }

  @Test(.ownRegistry) func validateTellsOfEachBuilderThatFailsForTheSameReason() throws {
    final class Refusing: Sendable {}
    @Register var first = { () throws -> Refusing in throw Refused() }
    @Register var second = { () throws -> Refusing in throw Refused() }
    @Inject var refusing: Refusing?
    let faults = #expect(throws: InjectFaults.self) { try InjectStorage.validate() }
    let errors = try #require(faults).errors.filter { $0.dependency.contains("Refusing") }
    #expect(errors.map(\.code) == [.builderFailed, .builderFailed])
    #expect(Set(errors.flatMap(\.candidates)).count == 2)
  }
}
