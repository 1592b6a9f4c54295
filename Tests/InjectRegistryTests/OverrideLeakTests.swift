import InjectRegistry
import TestSupport
import Testing

private struct Branch: Sendable { let api: any API }
private struct Tree: Sendable { let branch: Branch }
private struct Host: Sendable { let names: [String] }
private final class Node: Sendable {}

/// What was built of doubles stays where these are, also when a builder goes on after an error.
@Suite struct OverrideLeakTests {
  private let owner = OwnStorage()
  private var storage: InjectStorage { owner.storage }

  @Test func whatWasBuiltThroughATreeOfDoublesIsNotSeenOutside() throws {
    let storage = storage
    storage.register(Client() as any API)
    storage.register(scope: .graph) { Branch(api: try storage.resolve()) }
    storage.register { Tree(branch: try storage.resolve()) }
    storage.register { Counter() }
    let counter = try storage.withOverrides {
      storage.register(Client("double") as any API)
      #expect(try storage.resolve(Tree.self).branch.api.name == "double")
      return try storage.resolve(Counter.self)
    }
    #expect(try storage.resolve(Tree.self).branch.api.name == "live")
    // It uses nothing that was overridden, and is one for all.
    #expect(try storage.resolve(Counter.self) === counter)
  }

  @Test func whatFoundNothingOutsideLooksAgainInside() throws {
    let storage = storage
    storage.register { Host(names: try storage.resolveAll((any API).self).map(\.name)) }
    storage.register { [(try? storage.resolve((any Animal).self))?.sound ?? "silence"] }
    #expect(try storage.resolve(Host.self).names == [])
    #expect(try storage.resolve([String].self) == ["silence"])
    try storage.withOverrides { () throws in
      storage.register(Client("double") as any API)
      storage.register(Tabby() as any Animal)
      #expect(try storage.resolve(Host.self).names == ["double"])
      #expect(try storage.resolve([String].self) == ["meow"])
    }
    #expect(try storage.resolve(Host.self).names == [])
  }

  @Test func whatFailedOutsideIsTriedAgainInside() throws {
    let storage = storage
    storage.register { () throws -> any API in throw Refused() }
    storage.register {
      Tree(branch: Branch(api: (try? storage.resolve((any API).self)) ?? Client("instead")))
    }
    #expect(try storage.resolve(Tree.self).branch.api.name == "instead")
    try storage.withOverrides { () throws in
      storage.register(Client("double") as any API)
      #expect(try storage.resolve(Tree.self).branch.api.name == "double")
    }
    #expect(try storage.resolve(Tree.self).branch.api.name == "instead")
  }

  @Test func whatCameOfADoubleThatFailsIsNotSeenOutside() throws {
    let storage = storage
    storage.register(Client() as any API)
    storage.register { Branch(api: try storage.resolve()) }
    storage.register {
      Tree(branch: (try? storage.resolve(Branch.self)) ?? Branch(api: Client("instead")))
    }
    try storage.withOverrides { () throws in
      storage.register { () throws -> any API in throw Refused() }
      #expect(try storage.resolve(Tree.self).branch.api.name == "instead")
    }
    #expect(try storage.resolve(Tree.self).branch.api.name == "live")
  }

  @Test func theOverridesOfABuilderItselfAreNobodyElses() throws {
    let storage = storage
    storage.register(Client() as any API)
    storage.register {
      try storage.withOverrides { () throws in
        storage.register(Tabby() as any Animal)
        _ = try storage.resolve((any Animal).self)
        return Branch(api: try storage.resolve())
      }
    }
    try storage.withOverrides { () throws in
      storage.register(Client("double") as any API)
      #expect(try storage.resolve(Branch.self).api.name == "double")
    }
    #expect(try storage.resolve(Branch.self).api.name == "live")
  }

  @Test func whoWaitsWithoutAnOverrideDoesNotGetItsFailure() {
    for _ in 0..<500 {
      let owner = OwnStorage()
      let storage = owner.storage
      storage.register(Client() as any API)
      storage.register { Branch(api: try storage.resolve()) }
      Threads.run(4) { index in
        guard index > 0 else {
          storage.withOverrides {
            storage.register { () throws -> any API in throw Refused() }
            #expect(throws: InjectError.self) { try storage.resolve(Branch.self) }
          }
          return
        }
        #expect((try? storage.resolve(Branch.self).api.name) == "live")
      }
    }
  }

  @Test func whoWaitsIsToldOfTheFailureAtItsOwnPlace() {
    for _ in 0..<500 {
      let owner = OwnStorage()
      let storage = owner.storage
      storage.register { () throws -> Branch in throw Refused() }
      Threads.run(2) { index in
        let line = UInt(1_000 + index)
        let error = #expect(throws: InjectError.self) {
          try storage.resolve(Branch.self, line: line)
        }
        #expect(error?.location?.line == line)
      }
    }
  }

  @Test func racesInOneOverrideGiveOneInstanceAlsoOfWhatIsKeptWeakly() {
    for scope in [InjectScope.singleton, .weak] {
      for _ in 0..<500 {
        let owner = OwnStorage()
        let storage = owner.storage
        storage.register(Client() as any API)
        storage.register(scope: scope) { () throws -> Node in
          _ = try storage.resolve((any API).self)
          return Node()
        }
        storage.withOverrides {
          storage.register(Client("double") as any API)
          let overrides = InjectOverrides.current
          let seen = Shared<[Node]>([])
          Threads.run(4) { _ in
            overrides.apply {
              guard let node = try? storage.resolve(Node.self) else { return }
              seen.withLock { $0.append(node) }
            }
          }
          let first = seen.current.first
          #expect(seen.current.count == 4 && seen.current.allSatisfy { $0 === first })
        }
      }
    }
  }

  @Test func aTypeIsTheOneThatIsWrittenAndNotThatOfASubclass() throws {
    // Unchecked, since a class that is not final can be no other; it holds nothing.
    class Base: @unchecked Sendable {}
    final class Derived: Base, @unchecked Sendable {}
    storage.register { Derived() }
    let type: Base.Type = Derived.self
    #expect(throws: InjectError.self) { try storage.resolve(type) }
    storage.register { Base() }
    let found = try storage.resolve(type)
    #expect(Swift.type(of: found) == Base.self)
    #expect(try Swift.type(of: storage.resolve(Derived.self)) == Derived.self)
  }
}
