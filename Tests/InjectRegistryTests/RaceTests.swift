import Foundation
import InjectRegistry
import TestSupport
import Testing

@Suite struct RaceTests {
  private final class Instance: Sendable {}

  /// One storage for each round, used by all threads for the first time at once.
  private struct Round: Sendable {
    let storage = InjectStorage()
    let builds = Counter()
    let seen = Shared<Set<ObjectIdentifier>>([])

    init(_ scope: InjectScope) {
      storage.register(scope: scope) { [builds] () -> Instance in
        builds.add()
        return Instance()
      }
    }
  }

  @Test(arguments: [2, 8])
  func tenThousandRacesOnFirstAccessGiveOneInstanceAndOneBuildEach(_ threads: Int) {
    race(threads, 10_000, .singleton)
  }

  @Test(arguments: [InjectScope.weak, .session("s")])
  func racesInOtherScopesBuildOnceToo(_ scope: InjectScope) { race(8, 1_000, scope) }

  private func race(_ threads: Int, _ count: Int, _ scope: InjectScope) {
    let rounds = (0..<count).map { _ in Round(scope) }
    let arrivals = (0..<count).map { _ in Counter() }
    let instances = Shared<[Instance]>([])
    Threads.run(threads) { _ in
      for (index, round) in rounds.enumerated() {
        arrivals[index].add()
        // As many as are awake begin together; one that sleeps comes later, which is a race as
        // well.
        var patience = 1_000
        while arrivals[index].value < threads, patience > 0 { patience -= 1 }
        guard let instance = try? round.storage.resolve(Instance.self) else { continue }
        // A weak one would go, and its address be used again.
        instances.withLock { $0.append(instance) }
        round.seen.withLock { _ = $0.insert(ObjectIdentifier(instance)) }
      }
    }
    #expect(rounds.allSatisfy { $0.builds.value == 1 && $0.seen.current.count == 1 })
    #expect(instances.current.count == threads * count)
  }

  @Test func thoseThatWaitForABuilderThatFailsHearOfItAndTheNextBuildsAgain() throws {
    let storage = InjectStorage()
    let builds = Counter()
    let barrier = Barrier(2)
    storage.register { () throws -> Instance in
      if builds.add() == 1 {
        barrier.wait()
        throw Refused()
      }
      return Instance()
    }
    let failures = Shared<[InjectError]>([])
    Threads.run(2) { index in
      do throws(InjectError) {
        if index == 1 { barrier.wait() }
        _ = try storage.resolve(Instance.self)
      } catch {
        failures.withLock { $0.append(error) }
      }
    }
    #expect(failures.current.allSatisfy { $0.code == .builderFailed && $0.underlying is Refused })
    #expect((1...2).contains(failures.current.count))
    _ = try storage.resolve(Instance.self)
    #expect(builds.value == 2)
  }

  @Test func whoHasSeenTheNewOneNeverFindsTheOldOneInWhicheverInjection() {
    let storage = InjectStorage()
    @Sendable func register(_ round: Int) {
      storage.register(Client("\(round)") as any API, line: 1)
    }
    @Sendable func round(_ group: String) -> Int? {
      (try? storage.resolve((any API).self, group: group).name).flatMap { Int($0) }
    }
    register(0)
    // An injection for each group, all answered by the general registry.
    let groups = (0..<200).map { "\($0)" }
    for group in groups { #expect(round(group) == 0) }
    let readersDone = Counter()
    let steps = Shared<[(from: Int, to: Int?)]>([])
    Threads.run(3) { index in
      if index == 0 {
        var latest = 0
        while readersDone.value < 2 {
          latest += 1
          register(latest)
        }
      } else {
        var (last, seen) = (0, 0)
        while seen < 100 {
          for group in groups {
            let next = round(group)
            if next.map({ $0 >= last }) != true { steps.withLock { $0.append((last, next)) } }
            if next != last { seen += 1 }
            last = next ?? last
          }
        }
        readersDone.add()
      }
    }
    #expect(steps.current.map { "\($0.from) to \($0.to ?? -1)" } == [])
  }
}
