import InjectRegistry
import Testing

@Suite struct ScopeTests {
  private let owner = OwnStorage()
  private var storage: InjectStorage { owner.storage }

  @Test func aWeakInstanceLivesAsLongAsSomebodyHoldsIt() throws {
    let count = Counter()
    storage.register(scope: .weak) { () -> Client in
      count.add()
      return Client()
    }
    var held: Client? = try storage.resolve(Client.self)
    #expect(try storage.resolve(Client.self) === held && count.value == 1)
    weak let gone = held
    held = nil
    #expect(gone == nil)
    _ = try storage.resolve(Client.self)
    #expect(count.value == 2)
  }

  @Test func aWeakInstanceIsNotHeldByLearningWhatItIs() throws {
    storage.register(scope: .weak) { Terrier() as any Animal }
    storage.register { Tabby() as any Animal }
    weak let gone = try storage.resolve((any Animal).self, (any Dog).self) as? Terrier
    #expect(gone == nil)
    #expect(try storage.resolve((any Animal).self, (any Dog).self) is Terrier)
  }

  @Test func aStructCantBeKeptWeakly() {
    storage.register(scope: .weak) { Tabby() as any Animal }
    let error = #expect(throws: InjectError.self) { try storage.resolve((any Animal).self) }
    #expect(error?.code == .wrongScope)
  }

  @Test func aGraphInstanceIsSharedWithinOneResolutionAlone() throws {
    final class Unit: Sendable {}
    struct Part: Sendable { let unit: Unit }
    struct Whole: Sendable {
      let left: Part
      let right: Part
      let unit: Unit
    }
    let storage = storage
    storage.register(scope: .graph) { Unit() }
    storage.register(scope: .instance) { Part(unit: try storage.resolve()) }
    storage.register(scope: .instance) {
      Whole(left: try storage.resolve(), right: try storage.resolve(), unit: try storage.resolve())
    }
    let (one, two) = (try storage.resolve(Whole.self), try storage.resolve(Whole.self))
    #expect(one.left.unit === one.right.unit && one.left.unit === one.unit)
    #expect(two.unit === two.left.unit && one.unit !== two.unit)
    #expect(try storage.resolve(Unit.self) !== storage.resolve(Unit.self))
  }

  @Test func aSessionKeepsItsInstancesUntilItIsReset() throws {
    storage.register(scope: .session("login")) { Client("login") }
    storage.register(scope: .session("cart")) { Counter() }
    storage.register { Terrier() }
    let (client, counter) = (try storage.resolve(Client.self), try storage.resolve(Counter.self))
    let terrier = try storage.resolve(Terrier.self)
    #expect(try storage.resolve(Client.self) === client)
    storage.resetSession("login")
    #expect(try storage.resolve(Client.self) !== client)
    #expect(try storage.resolve(Counter.self) === counter)
    #expect(try storage.resolve(Terrier.self) === terrier)
  }

  @Test func aResetSessionGivesUpWhatWasReadOften() throws {
    storage.register(scope: .session("login")) { Client() }
    weak var gone: Client?
    // So many reads of a singleton publish it, for good.
    for _ in 0..<500 { gone = try storage.resolve(Client.self) }
    #expect(gone != nil)
    storage.resetSession("login")
    #expect(gone == nil)
    #expect(try storage.resolve(Client.self).name == "live")
  }

  @Test func aResetSessionGivesUpWhatWasBeingBuilt() throws {
    let builds = Counter()
    let first = Shared<WeakTerrier>(WeakTerrier())
    storage.register(scope: .session("login")) { [unowned storage = storage] () -> any Animal in
      let terrier = Terrier()
      guard builds.add() == 1 else { return terrier }
      first.withLock { $0.terrier = terrier }
      storage.resetSession("login")
      return terrier
    }
    // Only an instance tells whether the registration has the qualifier.
    let found = try storage.resolve((any Animal).self, (any Dog).self)
    #expect(found is Terrier && builds.value == 2)
    #expect(first.current.terrier == nil)
  }

  private struct WeakTerrier {
    weak var terrier: Terrier?
  }

  @Test func theScopeOfAnInjectionGoesBeforeTheRegisteredOne() throws {
    storage.register { Client() }
    let shared = try storage.resolve(Client.self)
    let session = try storage.resolve(Client.self, scope: .session("s"))
    #expect(session !== shared)
    #expect(try storage.resolve(Client.self, scope: .session("s")) === session)
    #expect(try storage.resolve(Client.self, scope: .singleton) === shared)
  }

  @Test func resetGivesUpWhatWasBuiltAndKeepsWhatIsRegistered() throws {
    storage.register { Client() }
    let value = Counter()
    storage.register(value)
    let client = try storage.resolve(Client.self)
    storage.reset()
    #expect(try storage.resolve(Client.self) !== client)
    #expect(try storage.resolve(Counter.self) === value)
    storage.removeAll()
    #expect(throws: InjectError.self) { try storage.resolve(Client.self) }
    #expect(throws: InjectError.self) { try storage.resolve(Counter.self) }
  }

  @Test func deinitialisersMayUseTheStorageThatGivesUpTheirObject() throws {
    final class Closing: Sendable {
      let storage: InjectStorage
      let count: Counter
      init(_ storage: InjectStorage, _ count: Counter) {
        self.storage = storage
        self.count = count
      }
      deinit {
        storage.register { Tabby() }
        if (try? storage.resolve(Tabby.self)) != nil { count.add() }
      }
    }
    let count = Counter()
    for _ in 0..<2 {
      storage.register { [unowned storage] in Closing(storage, count) }
      _ = try storage.resolve(Closing.self)
    }
    #expect(count.value == 1)
    storage.reset()
    #expect(count.value == 2)
  }
}
