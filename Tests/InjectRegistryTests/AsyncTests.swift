import InjectRegistry
import Testing

private final class A: Sendable {}
private final class B: Sendable {}

@Suite(.ownRegistry) struct AsyncTests {
  private let owner = OwnStorage()
  private var storage: InjectStorage { owner.storage }

  @Test func anAsyncBuilderIsAwaitedOnceAndReadWithoutAwaitingAfterwards() async throws {
    let count = Counter()
    @Register var client = { () async -> Client in
      await Task.yield()
      count.add()
      return Client()
    }
    @Inject var injected: Client?
    #expect(throws: InjectError.self) { try $injected.resolve() }
    let wrapper = $injected
    await withTaskGroup { group in
      for _ in 0..<100 { group.addTask { _ = try? await wrapper.resolveAsync() } }
    }
    #expect(injected != nil && count.value == 1)
  }

  @Test func withoutAwaitingTheErrorSaysThatItIsNeeded() {
    storage.register { () async -> Client in Client() }
    let error = #expect(throws: InjectError.self) { try storage.resolve(Client.self) }
    #expect(error?.code == .needsAwait && error?.description.contains("resolveAsync") == true)
  }

  @Test func anAsyncBuilderGetsParametersAndItsErrorIsPassedOn() async throws {
    storage.register { (name: String) async throws -> Client in
      if name.isEmpty { throw Refused() }
      return Client(name)
    }
    #expect(try await storage.resolveAsync(Client.self, with: "async").name == "async")
    await #expect(throws: InjectError.self) {
      try await storage.resolveAsync(Client.self, with: "")
    }
    #expect(throws: InjectError.self) { try storage.resolve(Client.self, with: "async") }
  }

  @Test func anAsyncBuilderMayResolveOthersOfBothKinds() async throws {
    let storage = storage
    storage.register { Client("sync") }
    storage.register { () async throws -> A in
      _ = try storage.resolve(Client.self)
      return A()
    }
    storage.register { () async throws -> B in
      _ = try await storage.resolveAsync(A.self)
      _ = try storage.resolve(A.self)
      return B()
    }
    _ = try await storage.resolveAsync(B.self)
    let all = try await storage.resolveAllAsync(B.self)
    #expect(all.count == 1)
  }

  @Test func aCycleOfAsyncBuildersIsAnErrorWithThePath() async {
    let storage = storage
    storage.register { () async throws -> A in
      _ = try await storage.resolveAsync(B.self)
      return A()
    }
    storage.register { () async throws -> B in
      _ = try await storage.resolveAsync(A.self)
      return B()
    }
    let error = await #expect(throws: InjectError.self) { try await storage.resolveAsync(A.self) }
    #expect(error?.code == .cycle && error?.path.count == 3)
  }

  @Test func aCycleOfNewInstancesThroughChildTasksEnds() async {
    let storage = storage
    storage.register(scope: .instance) { () async throws -> A in
      async let other = storage.resolveAsync(B.self)
      _ = try await other
      return A()
    }
    storage.register(scope: .instance) { () async throws -> B in
      async let other = storage.resolveAsync(A.self)
      _ = try await other
      return B()
    }
    let error = await #expect(throws: InjectError.self) { try await storage.resolveAsync(A.self) }
    #expect(error?.code == .cycle && error?.path.count == 3)
  }

  @Test func aBuilderThatIsCancelledFurtherInTakesNobodyAlong() async throws {
    let storage = storage
    let builds = Counter()
    let isRunning = AsyncStream<Void>.makeStream()
    storage.register { () async throws -> B in
      if builds.add() == 1 {
        isRunning.continuation.yield()
        try await Task.sleep(for: .seconds(3_600))
      }
      return B()
    }
    storage.register { () async throws -> A in
      _ = try await storage.resolveAsync(B.self)
      return A()
    }
    let first = Task { try await storage.resolveAsync(A.self) }
    for await _ in isRunning.stream { break }
    let second = Task { try await storage.resolveAsync(A.self) }
    for _ in 0..<100 { await Task.yield() }
    first.cancel()
    await #expect(throws: InjectError.self) { try await first.value }
    _ = try await second.value
    #expect(builds.value == 2)
  }

  @Test func aTaskThatABuilderStartsAndDoesNotAwaitMayResolveWhatIsBuilt() async throws {
    let storage = storage
    let later = Shared<Task<A, any Error>?>(nil)
    storage.register { () async throws -> A in
      let task = Task { try await storage.resolveAsync(A.self) }
      later.withLock { $0 = task }
      await Task.yield()
      return A()
    }
    let built = try await storage.resolveAsync(A.self)
    let seen = try await later.current?.value
    #expect(seen === built)
  }

  @Test func aCancelledTaskThatWaitsEnds() async throws {
    let storage = storage
    let isRunning = AsyncStream<Void>.makeStream()
    let mayEnd = AsyncStream<Void>.makeStream()
    storage.register { () async throws -> A in
      isRunning.continuation.yield()
      for await _ in mayEnd.stream { break }
      return A()
    }
    let builder = Task { try await storage.resolveAsync(A.self) }
    for await _ in isRunning.stream { break }
    let waiting = Task { try await storage.resolveAsync(A.self) }
    waiting.cancel()
    let error = await #expect(throws: InjectError.self) { try await waiting.value }
    #expect(error?.underlying is CancellationError)
    mayEnd.continuation.yield()
    _ = try await builder.value
  }
}
