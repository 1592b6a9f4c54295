import Testing

@testable import InjectRegistry

/// A session for each user costs nothing once it has ended.
@Suite struct SessionTests {
  private let owner = OwnStorage()
  private var storage: InjectStorage { owner.storage }

  private final class Cart: Sendable {}
  private final class Basket: Sendable {}

  @Test func endedSessionsLeaveNoNodeAndNoInstance() throws {
    storage.register { Cart() }
    storage.register { Basket() as any Sendable }
    _ = try (storage.resolve(Cart.self), storage.resolve((any Sendable).self))
    let (nodes, places) = (storage.nodeCount, storage.registry.placeCount)
    for user in 0..<1_000 {
      let scope = InjectScope.session("user \(user)")
      let cart = try storage.resolve(Cart.self, scope: scope)
      #expect(try storage.resolve(Cart.self, scope: scope) === cart)
      _ = try storage.resolve((any Sendable).self, Basket.self, scope: scope)
      storage.resetSession("user \(user)")
    }
    // The last ended ones are forgotten at the next end.
    storage.resetSession("nobody")
    #expect(storage.nodeCount == nodes)
    #expect(storage.registry.placeCount == places)
  }

  @Test func aHeldNodeOfAnEndedSessionGoesWithItsLastHolder() throws {
    storage.register { Cart() }
    storage.resetSession("held")
    let nodes = storage.nodeCount
    do {
      // As a property holds it.
      let node = storage.node(Cart.self, scope: .session("held"))
      storage.resetSession("held")
      #expect(storage.nodeCount == nodes + 1)
      _ = try node.resolve(nil, nil)
      storage.resetSession("held")
      #expect(storage.node(Cart.self, scope: .session("held")) === node)
    }
    storage.resetSession("held")
    storage.resetSession("held")
    #expect(storage.nodeCount == nodes && storage.registry.placeCount == 0)
  }

  @Test func endingOneSessionLooksAtNoNodeOfAnother() throws {
    var set = NodeSet()
    func add(_ scope: InjectScope?, group: String? = nil) {
      let key = NodeKey(entry: EntryKey(Cart.self, group: group), qualifiers: [], scope: scope)
      set.add(Node<Cart>(storage, key, [], nil), at: nil)
    }
    for user in 0..<1_000 { add(.session("user \(user)")) }
    add(nil)
    add(.singleton)
    // The node without a scope may have found an instance of the session; so may the session's.
    #expect(set.end("user 7").count == 2)
    #expect(set.end("user 7").count == 1, "it has ended before")
    #expect(set.end("nobody").count == 1)
    #expect(set.count == 1_001)
    #expect(set.endAll().count == 1_001)
    #expect(set.endAll().count == 2)
    #expect(set.count == 2)
  }

  @Test func aPropertyThatOutlivesItsSessionStartsTheNextOne() throws {
    struct Page: Sendable { @UnwrappedInject(.session("outlived")) var cart: Cart }
    struct Other: Sendable { @UnwrappedInject(.session("outlived")) var cart: Cart }
    try InjectStorage.withOverrides {
      @Register var cart = { Cart() }
      let page = Page()
      var last = try page.$cart.resolve()
      for _ in 0..<3 {
        InjectStorage.standard.resetSession("outlived")
        let next = try page.$cart.resolve()
        #expect(next !== last && page.cart === next)
        #expect(try Other().$cart.resolve() === next)
        last = next
      }
    }
  }

  @Test func aNodeThatIsHeldForgetsWithEachEndOfItsSession() throws {
    storage.register { Cart() }
    // As a property holds it.
    let node = storage.node(Cart.self, scope: .session("held"))
    var last = try node.resolve(nil, nil)
    for _ in 0..<3 {
      storage.resetSession("held")
      let next = try storage.resolve(Cart.self, scope: .session("held"))
      #expect(next !== last)
      for _ in 0..<200 { #expect(try node.value(nil, place) === next) }
      #expect(storage.node(Cart.self, scope: .session("held")) === node)
      last = next
    }
    weak let gone = last
    last = Cart()
    storage.reset()
    #expect(gone == nil)
  }

  private var place: InjectLocation {
    InjectLocation(fileID: #fileID, line: #line, column: #column)
  }

  @Test func anEndInsideOverridesLeavesTheSessionOutsideAndNoNode() throws {
    storage.register { Cart() }
    let outside = try storage.resolve(Cart.self, scope: .session("user"))
    let nodes = storage.nodeCount
    try storage.withOverrides {
      storage.register { Cart() }
      let inside = try storage.resolve(Cart.self, scope: .session("user"))
      #expect(inside !== outside)
      for user in 0..<100 {
        _ = try storage.resolve(Cart.self, scope: .session("user \(user)"))
        storage.resetSession("user \(user)")
      }
      storage.resetSession("user")
      #expect(try storage.resolve(Cart.self, scope: .session("user")) !== inside)
    }
    #expect(storage.nodeCount <= nodes + 1)
    #expect(try storage.resolve(Cart.self, scope: .session("user")) === outside)
    storage.resetSession("user")
    #expect(try storage.resolve(Cart.self, scope: .session("user")) !== outside)
  }

  @Test func registeringAnewReachesTheInstancesOfAllSessions() throws {
    func register(_ name: String) { storage.register { Client(name) } }
    register("first")
    for user in ["a", "b"] {
      #expect(try storage.resolve(Client.self, scope: .session(user)).name == "first")
    }
    register("second")
    for user in ["a", "b"] {
      #expect(try storage.resolve(Client.self, scope: .session(user)).name == "second")
    }
    storage.removeAll()
    for user in ["a", "b"] {
      #expect(throws: InjectError.self) { try storage.resolve(Client.self, scope: .session(user)) }
    }
  }

  @Test func sessionsMayStartAndEndInManyThreads() async throws {
    storage.register { Cart() }
    _ = try storage.resolve(Cart.self)
    let nodes = storage.nodeCount
    let storage = storage
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          for user in 0..<200 {
            let name = "\(worker)/\(user)"
            let cart = try storage.resolve(Cart.self, scope: .session(name))
            #expect(try storage.resolve(Cart.self, scope: .session(name)) === cart)
            storage.resetSession(name)
          }
        }
      }
      try await group.waitForAll()
    }
    storage.resetSession("nobody")
    #expect(storage.nodeCount == nodes && storage.registry.placeCount == 1)
  }
}
