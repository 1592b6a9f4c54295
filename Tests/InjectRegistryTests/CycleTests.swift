import Foundation
import InjectRegistry
import TestSupport
import Testing

private final class A: Sendable {}
private final class B: Sendable {}
private final class C: Sendable {}

/// Asks for the three in a circle, each in a scope.
private func makeCircle(_ scope: InjectScope = .singleton) -> InjectStorage {
  let storage = InjectStorage()
  storage.register(scope: scope) { [unowned storage] () throws -> A in
    _ = try storage.resolve(B.self)
    return A()
  }
  storage.register(scope: scope) { [unowned storage] () throws -> B in
    _ = try storage.resolve(C.self)
    return B()
  }
  storage.register(scope: scope) { [unowned storage] () throws -> C in
    _ = try storage.resolve(A.self)
    return C()
  }
  return storage
}

/// `A -> B` without modules and contexts.
func short(_ path: [String]) -> [String] {
  path.map { String($0.split(separator: ".").last ?? "") }
}

@Suite struct CycleTests {
  @Test(arguments: [InjectScope.singleton, .instance, .weak, .graph, .session("s")])
  func aCycleIsAnErrorWithThePath(_ scope: InjectScope) {
    let storage = makeCircle(scope)
    let error = #expect(throws: InjectError.self) { try storage.resolve(A.self) }
    #expect(error?.code == .cycle)
    #expect(short(error?.path ?? []) == ["A", "B", "C", "A"])
    #expect(throws: InjectError.self) { try storage.resolve(B.self) }
  }

  @Test func thePathHoldsTheBuildersInBetweenThatKeepNothing() {
    let storage = InjectStorage()
    storage.register { [unowned storage] () throws -> A in
      _ = try storage.resolve(B.self)
      return A()
    }
    storage.register(scope: .instance) { [unowned storage] () throws -> B in
      _ = try storage.resolve(A.self)
      return B()
    }
    let error = #expect(throws: InjectError.self) { try storage.resolve(A.self) }
    #expect(short(error?.path ?? []) == ["A", "B", "A"])
  }

  @Test func afterACycleWasMendedTheSameStorageWorks() throws {
    let storage = InjectStorage()
    for isMended in [false, true] {
      storage.register { [unowned storage] () throws -> A in
        if !isMended { _ = try storage.resolve(A.self) }
        return A()
      }
      if isMended {
        _ = try storage.resolve(A.self)
      } else {
        #expect(throws: InjectError.self) { try storage.resolve(A.self) }
      }
    }
  }

  @Test func buildersThatNeedEachOtherOnTwoThreadsAreACycleAndNoDeadlock() {
    for _ in 0..<200 {
      let storage = InjectStorage()
      // Both are inside before either asks for the other.
      let barrier = Barrier(2)
      storage.register { [unowned storage] () throws -> A in
        barrier.wait()
        _ = try storage.resolve(B.self)
        return A()
      }
      storage.register { [unowned storage] () throws -> B in
        barrier.wait()
        _ = try storage.resolve(A.self)
        return B()
      }
      let errors = Shared<[InjectError]>([])
      Threads.run(2) { index in
        do throws(InjectError) {
          if index == 0 { _ = try storage.resolve(A.self) } else { _ = try storage.resolve(B.self) }
        } catch {
          errors.withLock { $0.append(error) }
        }
      }
      let found = errors.current
      #expect(found.count == 2 && found.allSatisfy { $0.code == .cycle })
      let paths = found.map { short($0.path) }
      #expect(paths.allSatisfy { $0 == ["A", "B", "A"] || $0 == ["B", "A", "B"] }, "\(paths)")
    }
  }

  @Test func aCycleThroughThreeThreadsIsFound() {
    let storage = InjectStorage()
    let barrier = Barrier(3)
    storage.register { [unowned storage] () throws -> A in
      barrier.wait()
      _ = try storage.resolve(B.self)
      return A()
    }
    storage.register { [unowned storage] () throws -> B in
      barrier.wait()
      _ = try storage.resolve(C.self)
      return B()
    }
    storage.register { [unowned storage] () throws -> C in
      barrier.wait()
      _ = try storage.resolve(A.self)
      return C()
    }
    let errors = Shared<[InjectError]>([])
    Threads.run(3) { index in
      do throws(InjectError) {
        switch index {
        case 0: _ = try storage.resolve(A.self)
        case 1: _ = try storage.resolve(B.self)
        default: _ = try storage.resolve(C.self)
        }
      } catch {
        errors.withLock { $0.append(error) }
      }
    }
    let found = errors.current
    #expect(found.count == 3 && found.allSatisfy { $0.code == .cycle })
    let circles = [["A", "B", "C", "A"], ["B", "C", "A", "B"], ["C", "A", "B", "C"]]
    #expect(found.allSatisfy { circles.contains(short($0.path)) }, "\(found.map(\.path))")
  }

  @Test func twoThreadsThatNeedOneThingWaitAndAreNoCycle() throws {
    for _ in 0..<200 {
      let storage = InjectStorage()
      storage.register { C() }
      storage.register { [unowned storage] () throws -> A in
        _ = try storage.resolve(C.self)
        return A()
      }
      storage.register { [unowned storage] () throws -> B in
        _ = try storage.resolve(C.self)
        _ = try storage.resolve(A.self)
        return B()
      }
      let failures = Counter()
      Threads.run(4) { index in
        do throws(InjectError) {
          if index % 2 == 0 {
            _ = try storage.resolve(A.self)
          } else {
            _ = try storage.resolve(B.self)
          }
        } catch {
          failures.add()
        }
      }
      #expect(failures.value == 0)
    }
  }

  @Test func aBuilderMayRegisterAndResolveWhatItRegistered() throws {
    let storage = InjectStorage()
    storage.register { [unowned storage] () throws -> A in
      storage.register { B() }
      _ = try storage.resolve(B.self)
      return A()
    }
    Threads.run(8) { _ in
      #expect((try? storage.resolve(A.self)) != nil)
    }
    _ = try storage.resolve(B.self)
  }

  @Test func aBuilderMayReplaceItself() throws {
    let owner = OwnStorage()
    let storage = owner.storage
    @Sendable func register(_ depth: Int) {
      storage.register { () -> A in
        if depth > 0 { register(depth - 1) }
        return A()
      }
    }
    register(1)
    _ = try storage.resolve(A.self)
    #expect(try storage.resolve(A.self) === storage.resolve(A.self))
  }

  @Test func aBuilderMayNeedItselfWithOtherParametersButNotForEver() throws {
    struct Tree: Sendable { let depth: Int }
    let storage = InjectStorage()
    storage.register { [unowned storage] (depth: Int) throws -> Tree in
      depth <= 0
        ? Tree(depth: 0)
        : Tree(depth: try storage.resolve(Tree.self, with: depth - 1).depth + 1)
    }
    #expect(try storage.resolve(Tree.self, with: 50).depth == 50)
    storage.register { [unowned storage] (text: String) throws -> A in
      try storage.resolve(A.self, with: text)
    }
    let error = #expect(throws: InjectError.self) { try storage.resolve(A.self, with: "x") }
    #expect(error?.code == .cycle)
  }
}

/// Holds threads until so many have come.
final class Barrier: @unchecked Sendable {
  // Guarded by `condition`.
  private var missing: Int
  private let condition = NSCondition()

  init(_ count: Int) { missing = count }

  func wait() {
    condition.lock()
    defer { condition.unlock() }
    missing -= 1
    if missing <= 0 { return condition.broadcast() }
    while missing > 0 { condition.wait() }
  }
}
