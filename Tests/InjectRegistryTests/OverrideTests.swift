import Foundation
import InjectRegistry
import TestSupport
import Testing

private struct Service: Sendable {
  let api: any API
  let build: Int
}

@Suite struct OverrideTests {
  private let owner = OwnStorage()
  private var storage: InjectStorage { owner.storage }

  private func name(_ storage: InjectStorage) -> String? {
    try? storage.resolve((any API).self).name
  }

  @Test func anOverrideIsSeenInsideAndNotAfterwards() throws {
    storage.register(Client() as any API)
    let inside = storage.withOverrides {
      storage.register(Client("double") as any API)
    } operation: {
      name(storage)
    }
    #expect(inside == "double" && name(storage) == "live")
  }

  @Test func overridesAreLayered() {
    storage.register(Client() as any API)
    storage.register(Counter())
    storage.withOverrides {
      storage.register(Client("outer") as any API)
      storage.register(Tabby() as any Animal)
      storage.withOverrides {
        #expect(name(storage) == "outer")
        storage.register(Client("inner") as any API)
        #expect(name(storage) == "inner")
        #expect((try? storage.resolve((any Animal).self)) != nil)
        #expect((try? storage.resolve(Counter.self)) != nil)
      }
      #expect(name(storage) == "outer")
    }
    #expect((try? storage.resolve((any Animal).self)) == nil)
  }

  @Test func overridesReachChildTasksAndTheTasksThatOutliveThem() async throws {
    storage.register(Client() as any API)
    let storage = storage
    let (gate, open) = AsyncStream<Void>.makeStream()
    let late = await storage.withOverrides {
      storage.register(Client("double") as any API)
      async let child = name(storage)
      let task = Task { name(storage) }
      #expect(await child == "double")
      #expect(await task.value == "double")
      return Task { () -> String? in
        for await _ in gate { break }
        return name(storage)
      }
    }
    open.yield()
    #expect(await late.value == "double")
    #expect(name(storage) == "live")
  }

  @Test func detachedTasksThreadsAndQueuesGetThemByHand() async {
    storage.register(Client() as any API)
    let storage = storage
    await storage.withOverrides {
      storage.register(Client("double") as any API)
      let overrides = InjectOverrides.current
      #expect(!overrides.isEmpty)
      let plain = await Task.detached { name(storage) }.value
      let carried = await Task.detached { overrides.apply { name(storage) } }.value
      #expect(plain == "live" && carried == "double")
      let queue = DispatchQueue(label: "queue")
      let queued = await withCheckedContinuation { continuation in
        queue.async { continuation.resume(returning: overrides.apply { name(storage) }) }
      }
      #expect(queued == "double")
      Threads.run(2) { index in
        let seen = index == 0 ? name(storage) : overrides.apply { name(storage) }
        #expect(seen == (index == 0 ? "live" : "double"))
      }
    }
    #expect(InjectOverrides.current.isEmpty)
  }

  @Test func whatWasBuiltBeforeFromWhatIsOverriddenIsBuiltAnewInside() throws {
    let storage = storage
    let builds = Counter()
    storage.register(Client() as any API)
    storage.register { Service(api: try storage.resolve(), build: builds.add()) }
    storage.register(scope: .singleton) { [try storage.resolve(Service.self)] }
    #expect(try storage.resolve([Service].self).first?.api.name == "live")
    try storage.withOverrides { () throws in
      storage.register(Client("double") as any API)
      // Directly, and through another one.
      #expect(try storage.resolve(Service.self).api.name == "double")
      #expect(try storage.resolve([Service].self).first?.api.name == "double")
      #expect(try storage.resolve(Service.self).build == 2)
    }
    #expect(try storage.resolve(Service.self).build == 1)
  }

  @Test func racesOfOverridesForOneBuilderNeverMixTheirDoubles() {
    for _ in 0..<2_000 {
      let owner = OwnStorage()
      let storage = owner.storage
      storage.register(Client() as any API)
      storage.register { Service(api: try storage.resolve(), build: 0) }
      Threads.run(4) { index in
        let seen = storage.withOverrides {
          if index > 0 { storage.register(Client("\(index)") as any API) }
          return try? storage.resolve(Service.self).api.name
        }
        #expect(seen == (index == 0 ? "live" : "\(index)"))
      }
    }
  }

  @Test func anInjectedPropertySeesTheOverridesOfItsReaderAndNotOfItsMaker() {
    struct Checkout: Sendable { @Inject var api: (any API)? }
    let checkout = InjectStorage.withOverrides {
      @Register var api: any API = Client("maker")
      return Checkout()
    }
    InjectStorage.withOverrides {
      @Register var api: any API = Client("reader")
      #expect(checkout.api?.name == "reader")
    }
  }

  @Test func resettingInsideLeavesWhatIsOutside() throws {
    storage.register(scope: .session("s")) { Client() }
    let client = try storage.resolve(Client.self)
    storage.withOverrides {
      storage.register(Counter())
      storage.resetSession("s")
      storage.reset()
      storage.removeAll()
      #expect((try? storage.resolve(Counter.self)) == nil)
    }
    #expect(try storage.resolve(Client.self) === client)
  }

  @Test func overridesAndTheirInstancesAreGivenUpWithTheLastTask() throws {
    weak var gone: Client?
    let storage = storage
    storage.register { Terrier() as any Animal }
    storage.withOverrides {
      storage.register { Client("double") }
      gone = try? storage.resolve(Client.self)
      #expect(gone != nil)
    }
    #expect(gone == nil)
  }

  @Test func overridesOfOneStorageAreNotThoseOfAnother() {
    let other = InjectStorage()
    storage.register(Client() as any API)
    other.register(Client("other") as any API)
    storage.withOverrides {
      storage.register(Client("double") as any API)
      other.withOverrides {
        #expect(name(other) == "other" && name(storage) == "double")
      }
    }
  }

  @Test func aGroupThatIsNotOverriddenGoesBeforeAGeneralOverride() throws {
    storage.register(Client("group") as any API, group: "shop")
    try storage.withOverrides { () throws in
      storage.register(Client("double") as any API)
      #expect(try storage.resolve((any API).self, group: "shop").name == "group")
      storage.register(Client("group double") as any API, group: "shop")
      #expect(try storage.resolve((any API).self, group: "shop").name == "group double")
    }
  }
}

@Suite struct LateRegistrationTests {
  private let owner = OwnStorage()
  private var storage: InjectStorage { owner.storage }

  @Test func theErrorClosureMayRegisterWhatWasNotFound() throws {
    let storage = storage
    let calls = Counter()
    storage.errorClosure = { error in
      calls.add()
      if case InjectError.notFound = error { storage.register(Client("late") as any API) }
    }
    #expect(try storage.resolve((any API).self).name == "late")
    #expect(try storage.resolve((any API).self).name == "late")
    #expect(calls.value == 1)
  }

  @Test func withoutARegistrationItIsTriedOnceMoreAndNotForEver() {
    let storage = storage
    let calls = Counter()
    storage.errorClosure = { _ in
      calls.add()
      _ = try? storage.resolve((any API).self)
    }
    let error = #expect(throws: InjectError.self) { try storage.resolve((any API).self) }
    #expect(error?.code == .notFound && calls.value == 1)
  }

  @Test func threadsThatMissTheSameRegisterItOnce() {
    for _ in 0..<200 {
      let owner = OwnStorage()
      let storage = owner.storage
      let calls = Counter()
      storage.errorClosure = { _ in
        calls.add()
        storage.register(Client("late"))
      }
      let seen = Shared<Set<ObjectIdentifier>>([])
      let clients = Shared<[Client]>([])
      Threads.run(4) { _ in
        guard let client = try? storage.resolve(Client.self) else { return }
        clients.withLock { $0.append(client) }
        seen.withLock { _ = $0.insert(ObjectIdentifier(client)) }
      }
      #expect(calls.value == 1 && seen.current.count == 1 && clients.current.count == 4)
    }
  }

  @Test func itIsCalledForAsyncSearchesToo() async throws {
    let storage = storage
    storage.errorClosure = { _ in storage.register { () async -> Client in Client("late") } }
    #expect(try await storage.resolveAsync(Client.self).name == "late")
  }

  @Test func theClosureOfOverridesIsTheirsAlone() {
    let storage = storage
    let (outer, inner) = (Counter(), Counter())
    storage.errorClosure = { _ in outer.add() }
    storage.withOverrides {
      _ = try? storage.resolve(Client.self)
      storage.errorClosure = { _ in inner.add() }
      _ = try? storage.resolve(Client.self)
    }
    _ = try? storage.resolve(Client.self)
    #expect(outer.value == 2 && inner.value == 1)
  }

  @Test(.ownRegistry) func anInjectedPropertyTellsTheClosureWhatItCantThrow() {
    let seen = Shared<[InjectError.Code]>([])
    InjectStorage.standard.errorClosure = { error in
      if let error = error as? InjectError { seen.withLock { $0.append(error.code) } }
    }
    @Inject var missing: (any API)?
    #expect(missing == nil)
    @Register var first: any Animal = Tabby()
    @Register var second: any Animal = Tabby()
    @Inject var ambiguous: (any Animal)?
    #expect(ambiguous == nil)
    #expect(seen.current == [.notFound, .moreThanOne])
  }
}
