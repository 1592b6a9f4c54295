import SecurePropertyStorage
import Testing

// The type that a dependency is registered under: the same in Swift 5 mode, which opens no
// existential argument here, and in Swift 6 mode, which would. The functions are as people write
// them.

private protocol Plugin: Sendable { var name: String { get } }
private protocol Tagged: Sendable {}

private struct Spelling: Plugin, Tagged { let name = "spelling" }

private final class Grammar: Plugin { let name = "grammar" }

private class Base: @unchecked Sendable {}
private final class Special: Base, Tagged, @unchecked Sendable {}

@Sendable private func three() -> Int { 3 }

private struct Clock: Sendable {
  static let now: @Sendable () -> Int = { 4 }
}

@MainActor private final class Screen {
  let title: String
  init(_ title: String = "screen") { self.title = title }
}

@MainActor private func makeScreen() -> Screen { Screen("made") }

private func isFound<Dependency: Sendable>(_ type: Dependency.Type, group: String? = nil) -> Bool {
  (try? InjectStorage.standard.resolve(type, group: group)) != nil
}

@Suite struct InjectedExistentialTests {
  @Test func anExistentialIsRegisteredUnderItsOwnTypeHoweverItIsPassed() {
    let plugin: any Plugin = Spelling()
    let optional: (any Plugin)? = Grammar()
    let plugins: [any Plugin] = [plugin]
    let ways: [@Sendable (InjectStorage) -> Void] = [
      { $0.register(plugin) },
      { $0.register(plugin, group: nil) },
      { $0.register(Spelling() as any Plugin) },
      { $0.register(Spelling(), as: (any Plugin).self) },
      { $0.register { plugin } },
      { if let optional { $0.register(optional) } },
      { storage in for plugin in plugins { storage.register(plugin) } },
      { storage in _ = plugins.map { storage.register($0) } },
      { _ in @Register var registered = plugin },
      { _ in @Register var registered: any Plugin = plugin },
      { _ in @Register(.lazy) var registered: any Plugin = plugin },
    ]
    for (index, register) in ways.enumerated() {
      InjectStorage.withOverrides {
        register(.standard)
        #expect(isFound((any Plugin).self), "way \(index)")
        #expect(!isFound(Spelling.self) && !isFound(Grammar.self), "way \(index)")
      }
    }
  }

  @Test func soIsOneOfAnOptionalAClassAndAComposition() {
    InjectStorage.withOverrides {
      let optional: (any Plugin)? = Spelling()
      InjectStorage.standard.register(optional)
      #expect(isFound((any Plugin)?.self) && !isFound((any Plugin).self))
      let both: any Plugin & Tagged = Spelling()
      InjectStorage.standard.register(both)
      #expect(isFound((any Plugin & Tagged).self) && isFound((any Tagged & Plugin).self))
      #expect(!isFound((any Plugin).self) && !isFound(Spelling.self))
      let special: any Base & Tagged = Special()
      InjectStorage.standard.register(special)
      #expect(isFound((any Base & Tagged).self) && !isFound(Special.self))
      let upcast: Base = Special()
      InjectStorage.standard.register(upcast)
      #expect(isFound(Base.self) && !isFound(Special.self))
      let error: any Error = InjectedTestError()
      InjectStorage.standard.register(error)
      #expect(isFound((any Error).self) && !isFound(InjectedTestError.self))
    }
  }

  @Test func aGenericParameterKeepsTheTypeThatItStandsFor() {
    func register<Dependency: Plugin>(_ plugin: Dependency) {
      InjectStorage.standard.register(plugin)
    }
    func registerSome(_ plugin: some Plugin) { InjectStorage.standard.register(plugin) }
    InjectStorage.withOverrides {
      register(Spelling())
      registerSome(Grammar())
      #expect(isFound(Spelling.self) && isFound(Grammar.self) && !isFound((any Plugin).self))
    }
  }

  @Test func parametersChooseTheBuilderByTheirDeclaredType() async throws {
    let plugin: any Plugin = Grammar()
    try await InjectStorage.withOverrides { () async throws in
      @Register var byPlugin = { (plugin: any Plugin) in plugin.name }
      @Inject(plugin) var one: String?
      @UnwrappedInject(plugin) var two: String
      @InjectWith(plugin) var three: String?
      @UnwrappedInjectWith(plugin) var four: String
      let all = [one, try $two.resolve(), three, try $four.resolve()]
      #expect(all == Array(repeating: "grammar", count: 4))
      let storage = InjectStorage.standard
      #expect(try storage.resolve(String.self, with: plugin) == "grammar")
      #expect(try await storage.resolveAsync(String.self, with: plugin) == "grammar")
      #expect(
        try storage.resolve(String.self, with: Spelling(), as: (any Plugin).self) == "spelling")
      #expect(throws: InjectError.self) { try storage.resolve(String.self, with: Spelling()) }
    }
  }
}

private struct InjectedTestError: Error {}

@Suite struct InjectedFunctionTests {
  @Test func aFunctionIsInjectedWhereItsTypeIsWritten() {
    let ways: [@Sendable () -> Void] = [
      { @Register var now: @Sendable () -> Int = { 3 } },
      { @Register var now: @Sendable () -> Int = { return 3 } },
      { @Register var now: @Sendable () -> Int = three },
      { @Register var now = Clock.now },
      { @Register var now = three },
      { @Register var now = { { 3 } as @Sendable () -> Int } },
      { @Register var now = { { @Sendable in 3 } } },
      { @Register(.lazy) var now: @Sendable () -> Int = { 3 } },
      { InjectStorage.standard.register({ 3 }, as: (@Sendable () -> Int).self) },
      { InjectStorage.standard.register(Clock.now, as: (@Sendable () -> Int).self) },
      { InjectStorage.standard.register { Clock.now } },
      {
        func register(@Register now: @escaping @Sendable () -> Int = { 3 }) {}
        register()
      },
    ]
    for (index, register) in ways.enumerated() {
      InjectStorage.withOverrides {
        register()
        @Inject var now: (@Sendable () -> Int)?
        #expect(now.map { (3...4).contains($0()) } == true, "way \(index)")
        #expect(!isFound(Int.self), "way \(index)")
      }
    }
  }

  @Test func soIsOneThatThrowsWaitsOrTakesParameters() async throws {
    try await InjectStorage.withOverrides {
      @Register var load: @Sendable (Int) async throws -> String = { "\($0)" }
      @Register var check: @Sendable (String) throws -> Bool = { $0.isEmpty }
      @Register var isBefore: @Sendable (Int, Int) -> Bool = { $0 < $1 }
      @Register var done: @Sendable () -> Void = {}
      @Register(group: "night") var dim: @Sendable (Int) -> Int = { $0 / 2 }
      @Register var retry: (@Sendable () -> Int)? = { 5 }
      @UnwrappedInject var aLoad: @Sendable (Int) async throws -> String
      @UnwrappedInject var aCheck: @Sendable (String) throws -> Bool
      @UnwrappedInject var anIsBefore: @Sendable (Int, Int) -> Bool
      @UnwrappedInject var aDone: @Sendable () -> Void
      @UnwrappedInject(group: "night") var aDim: @Sendable (Int) -> Int
      @UnwrappedInject var aRetry: (@Sendable () -> Int)?
      _ = try ($aLoad.resolve(), $aCheck.resolve(), $anIsBefore.resolve(), $aDone.resolve())
      #expect(try await aLoad(7) == "7")
      #expect(try aCheck("") && anIsBefore(1, 2) && aDim(8) == 4 && aRetry?() == 5)
      aDone()
      #expect(!isFound(String.self) && !isFound(Bool.self) && !isFound(Void.self))
    }
  }

  @Test func aClosureWithoutAWrittenTypeAndAnyWithAScopeIsABuilder() {
    InjectStorage.withOverrides {
      @Register var number = { 3 }
      @Register(scope: .instance) var text: @Sendable () -> String = { "built" }
      @Register(scope: .session("user")) var flag = { true }
      #expect(isFound(Int.self) && isFound(String.self) && isFound(Bool.self))
      #expect(!isFound((@Sendable () -> Int).self) && !isFound((@Sendable () -> String).self))
    }
  }

  @Test func assigningAFunctionReplacesTheFunction() {
    InjectStorage.withOverrides {
      struct Composition { @Register var now: @Sendable () -> Int = { 1 } }
      let composition = Composition()
      composition.now = { 2 }
      @UnwrappedInject var now: @Sendable () -> Int
      #expect(now() == 2 && composition.now() == 2 && !isFound(Int.self))
    }
  }

  @Test func tuplesAndCompositionsAreTypesLikeOthers() {
    InjectStorage.withOverrides {
      @Register var server = (host: "localhost", port: 80)
      @Register var pair: (Int, String) = (1, "one")
      @Register var both: any Plugin & Tagged = Spelling()
      @UnwrappedInject var aServer: (host: String, port: Int)
      @Inject var aPair: (Int, String)?
      @Inject var aBoth: (any Tagged & Plugin)?
      #expect(aServer.port == 80 && aPair?.1 == "one" && aBoth?.name == "spelling")
      #expect(!isFound((String, Int).self) && !isFound((any Tagged).self))
    }
  }
}

@Suite struct MainActorBuilderTests {
  @Test func aBuilderOnTheMainActorIsAwaitedOnceAndThenRead() async throws {
    let ways: [@Sendable () -> Void] = [
      { @Register var screen = { @MainActor in Screen() } },
      { @Register(scope: .session("user")) var screen = { @MainActor in Screen() } },
      { @Register var screen = { await Screen() } },
      { @Register var screen = { await makeScreen() } },
      { InjectStorage.standard.register { @MainActor in Screen() } },
      { InjectStorage.standard.register(scope: .singleton) { @MainActor in makeScreen() } },
      {
        @Register var screen = { @MainActor in
          let title = "t"
          return Screen(title)
        }
      },
    ]
    for (index, register) in ways.enumerated() {
      try await InjectStorage.withOverrides {
        register()
        #expect(throws: InjectError.self, "way \(index)") {
          try InjectStorage.standard.resolve(Screen.self)
        }
        let screen = try await InjectStorage.standard.resolveAsync(Screen.self)
        #expect(try InjectStorage.standard.resolve(Screen.self) === screen, "way \(index)")
      }
    }
  }

  @Test func itMayTakeParametersAndMayThrow() async throws {
    try await InjectStorage.withOverrides {
      @Register var byTitle = { (title: String) in await Screen(title) }
      let screen = try await InjectStorage.standard.resolveAsync(Screen.self, with: "given")
      #expect(screen.title == "given")
      @Register var failing = { @MainActor () throws -> Int in throw InjectedTestError() }
      await #expect(throws: InjectError.self) {
        try await InjectStorage.standard.resolveAsync(Int.self)
      }
    }
  }

  @MainActor @Test func aMainActorValueIsRegisteredOnTheMainActorAndReadAnywhere() async throws {
    let overrides = InjectStorage.withOverrides {
      @Register var screen = Screen("value")
      @Register var make: @MainActor @Sendable () -> Screen = { Screen("function") }
      return InjectOverrides.current
    }
    let (screen, make) = try await Task.detached {
      try overrides.apply {
        @UnwrappedInject var screen: Screen
        @UnwrappedInject var make: @MainActor @Sendable () -> Screen
        return (try $screen.resolve(), try $make.resolve())
      }
    }.value
    #expect(screen.title == "value" && make().title == "function")
  }
}
