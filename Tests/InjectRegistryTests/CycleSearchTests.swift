import InjectRegistry
import Testing

private final class A: Sendable {}
private final class B: Sendable {}

/// Builders that others wait for in many ways.
///
/// What a read is told that can't await shows what the search for cycles has found.
struct CycleSearchTests {
  private let owner = OwnStorage()
  private var storage: InjectStorage { owner.storage }

  @Test func theSearchEndsHoweverManyWaysLeadThroughTheBuilders() async throws {
    let storage = storage
    let (depth, width) = (8, 30)
    let asking = AsyncStream<Void>.makeStream()
    let mayEnd = AsyncStream<Void>.makeStream()
    // Each of them is waited for by the child tasks of the one before.
    for level in 0..<depth {
      storage.register(group: "\(level)") { () async throws -> A in
        try await withThrowingTaskGroup(of: A.self) { group in
          for _ in 0..<width {
            group.addTask {
              asking.continuation.yield()
              return try await storage.resolveAsync(group: "\(level + 1)")
            }
          }
          try await group.waitForAll()
        }
        return A()
      }
    }
    storage.register(group: "\(depth)") { () async -> A in
      for await _ in mayEnd.stream { break }
      return A()
    }
    storage.register { () throws -> B in
      _ = try storage.resolve(A.self, group: "0")
      return B()
    }
    async let first = storage.resolveAsync(A.self, group: "0")
    var missing = depth * width
    for await _ in asking.stream {
      missing -= 1
      if missing == 0 { break }
    }
    let error = #expect(throws: InjectError.self) { try storage.resolve(B.self) }
    #expect(error?.code == .needsAwait)
    mayEnd.continuation.yield()
    _ = try await first
  }

  @Test func aWayThatIsCertainIsFoundBesideManyThatAreNot() async throws {
    let storage = storage
    let width = 30
    let asking = AsyncStream<Void>.makeStream()
    let mayAsk = AsyncStream<Void>.makeStream()
    storage.register { () async throws -> A in
      try await withThrowingTaskGroup(of: B.self) { group in
        for _ in 0..<width {
          group.addTask {
            asking.continuation.yield()
            return try await storage.resolveAsync()
          }
        }
        for await _ in mayAsk.stream { break }
        _ = try await storage.resolveAsync(B.self)
        try await group.waitForAll()
      }
      return A()
    }
    storage.register { () async throws -> B in
      let user = Task.detached { _ = try await storage.resolveAsync(A.self) }
      var missing = width
      for await _ in asking.stream {
        missing -= 1
        if missing == 0 { break }
      }
      // The builder's child tasks wait, which it may never await.
      let first = #expect(throws: InjectError.self) { try storage.resolve(A.self) }
      #expect(first?.code == .needsAwait)
      mayAsk.continuation.yield()
      // Soon it waits itself.
      var last = first
      while last?.code == .needsAwait {
        try await Task.sleep(for: .milliseconds(1))
        last = #expect(throws: InjectError.self) { try storage.resolve(A.self) }
      }
      #expect(last?.code == .cycle && short(last?.path ?? []) == ["B", "A", "B"])
      withExtendedLifetime(user) {}
      return B()
    }
    _ = try await storage.resolveAsync(B.self)
    _ = try await storage.resolveAsync(A.self)
  }
}
