import InjectRegistry
import Testing

/// What is registered and comes near is named with what to do, and nothing is built to find out.
@Suite struct NearMissTests {
  private let owner = OwnStorage()
  private var storage: InjectStorage { owner.storage }

  /// The candidates that the error for a missing dependency names, without their places.
  private func candidates<Dependency: Sendable>(
    _ type: Dependency.Type, group: String? = nil
  ) throws -> [String] {
    let error = #expect(throws: InjectError.self) { try storage.resolve(type, group: group) }
    #expect(error?.code == .notFound)
    return try #require(error).candidates.compactMap { candidate in
      candidate.split(separator: ": ", maxSplits: 1).last.map(String.init)
    }
  }

  private func refuse<Dependency>(_: Dependency.Type) -> @Sendable () throws -> Dependency {
    { throw Refused("nothing is to be built") }
  }

  @Test func aBuilderOfATypeThatConforms() throws {
    storage.register(refuse(Client.self))
    storage.register(refuse(Tabby.self))
    #expect(
      try candidates((any API).self) == [
        "it fits the requested type; register it as any InjectRegistryTests.API"
      ])
  }

  @Test func aBuilderOfASubclass() throws {
    // Unchecked, since a class that is not final can be no other; it holds nothing.
    class Base: @unchecked Sendable {}
    final class Special: Base, @unchecked Sendable {}
    storage.register(refuse(Special.self))
    #expect(
      try candidates(Base.self).first?.hasPrefix("it fits the requested type; register it as")
        == true)
    #expect(try candidates((Base & Sendable).self).count == 1)
  }

  @Test func aBuilderOfAProtocolThatTheTypeConformsTo() throws {
    storage.register(refuse((any API).self))
    storage.register(refuse((any Animal).self))
    #expect(
      try candidates(Client.self) == [
        "it may fit the requested type; inject it as any InjectRegistryTests.API,"
          + " or register it as InjectRegistryTests.Client"
      ])
  }

  @Test func whatABuilderHasBuiltBeforeIsLookedAt() throws {
    storage.register { Terrier() as any Animal }
    #expect(try candidates((any Dog & Sendable).self).isEmpty)
    #expect(try candidates(Tabby.self).count == 1, "it may fit the requested type")
    _ = try storage.resolve((any Animal).self)
    #expect(
      try candidates((any Dog & Sendable).self).first?.hasPrefix("it fits the requested type")
        == true)
    #expect(try candidates(Tabby.self).isEmpty, "it is a Terrier")
  }

  @Test func anOptionalAndOneThatIsNot() throws {
    storage.register(refuse((any API)?.self))
    #expect(
      try candidates((any API).self) == [
        "it is optional; register it as any InjectRegistryTests.API"
      ])
    storage.register(refuse(Client.self))
    #expect(
      try candidates(Client?.self) == [
        "it is not optional; inject it as InjectRegistryTests.Client"
      ])
  }

  @Test func whatIsGenericOverTheSameTypeIsNotNamed() throws {
    storage.register(refuse([Client].self))
    storage.register(refuse(Int?.self))
    #expect(try candidates(Set<Int>.self).isEmpty)
    #expect(try candidates([Int].self).isEmpty)
  }

  @Test func aTypeOfTheSameNameFromAnotherPlace() throws {
    enum Other { struct Client: Sendable {} }
    storage.register(refuse(Other.Client.self))
    #expect(try candidates(Client.self) == ["another type of the same name"])
  }

  @Test func aFunctionThatWasTakenForItsBuilder() throws {
    let three: @Sendable () -> Int = { 3 }
    storage.register(three)
    storage.register { (retries: Int) in "\(retries)" }
    #expect(
      try candidates((@Sendable () -> Int).self) == [
        "the function was taken for its builder; to inject the function itself, write "
          + "@Register var f: @Sendable () -> Swift.Int = ..., or "
          + "register(f, as: (@Sendable () -> Swift.Int).self)"
      ])
    #expect(
      try candidates((@Sendable (Int) -> String).self).first?.hasPrefix("the function was taken")
        == true)
    #expect(try candidates((@Sendable () -> String).self).isEmpty, "it takes a parameter")
    #expect(try candidates((@Sendable () -> Double).self).isEmpty, "it returns something else")
  }

  @Test func aFunctionWhereItsResultIsRequested() throws {
    storage.register({ 3 }, as: (@Sendable () -> Int).self)
    storage.register({ $0 }, as: (@Sendable (Double) -> Double).self)
    #expect(
      try candidates(Int.self) == [
        "a function that returns it; to run the function as its builder, write { f() }"
      ])
    #expect(try candidates(Double.self).isEmpty, "the function needs a parameter")
  }

  @Test func aFunctionOfTheSameParametersAndResult() throws {
    storage.register({ 3 }, as: (@Sendable () throws -> Int).self)
    storage.register({ 4 }, as: (@MainActor @Sendable () -> Int).self)
    #expect(
      try candidates((@Sendable () -> Int).self)
        == Array(
          repeating: "a function that differs in throws, async, @Sendable or its actor; "
            + "register it as @Sendable () -> Swift.Int", count: 2))
    #expect(try candidates((@Sendable (Int) -> Int).self).isEmpty)
  }

  @Test func theAdviceForAFunctionIsOneThatRegistersTheFunction() throws {
    let error = #expect(throws: InjectError.self) {
      try storage.resolve((@Sendable () -> Int).self)
    }
    #expect(
      error?.description.contains("@Register var dependency: @Sendable () -> Int = { ... }") == true
    )
    let list = #expect(throws: InjectError.self) { try storage.resolve([@Sendable () -> Int].self) }
    #expect(list?.description.contains("= YourImplementation()") == true)
  }

  @Test func aTupleWithOtherLabels() throws {
    storage.register((host: "localhost", port: 80))
    let error = #expect(throws: InjectError.self) { try storage.resolve((String, Int).self) }
    #expect(
      error?.candidates.first?.hasSuffix(
        ": a tuple with other labels; inject it as (host: Swift.String, port: Swift.Int)") == true)
    #expect(try candidates((String, UInt).self).isEmpty)
  }

  @Test func aCompositionWithMoreOrFewerParts() throws {
    storage.register(refuse((any API & Small).self))
    #expect(
      try candidates((any API).self) == [
        "it fits the requested type; register it as any InjectRegistryTests.API"
      ])
    #expect(
      try candidates((any API & Small & Dog).self) == [
        "it may fit the requested type; inject it as any InjectRegistryTests.API & "
          + "InjectRegistryTests.Small, or register it as any InjectRegistryTests.API & "
          + "InjectRegistryTests.Dog & InjectRegistryTests.Small"
      ])
    #expect(try candidates((any Animal & Small).self).isEmpty)
  }

  @Test func oneInAGroup() throws {
    storage.register(group: "shop", refuse((any API).self))
    #expect(try candidates((any API).self) == ["in a group; inject it with group: \"shop\""])
    #expect(
      try candidates((any API).self, group: "zoo") == [
        "in another group; inject it with group: \"shop\""
      ])
  }

  @Test func aBuilderThatTakesOtherParameters() throws {
    storage.register { (retries: Int) in Client("\(retries)") }
    #expect(
      try candidates(Client.self) == [
        "its builder takes parameters, `Swift.Int`; inject it with @InjectWith(parameters)"
      ])
    storage.register(refuse(Counter.self))
    let aGroup = #expect(throws: InjectError.self) {
      try storage.resolve(Counter.self, with: "shop")
    }
    #expect(
      aGroup?.description.contains(
        "its builder takes no parameters; to name a group, write group: \"...\"") == true)
    let error = #expect(throws: InjectError.self) {
      try storage.resolve(Client.self, with: "three")
    }
    #expect(
      error?.description.contains("takes parameters of another type, `Swift.Int`") == true)
  }
}
