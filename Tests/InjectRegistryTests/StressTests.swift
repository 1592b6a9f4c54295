import Foundation
import InjectRegistry
import TestSupport
import Testing

@Suite struct StressTests {
  private final class Part: Sendable {}
  private struct Whole: Sendable {
    let part: Part
    let api: any API
  }

  @Test func registeringResolvingOverridingAndResettingFromEightThreadsIsSafe() {
    stress(for: .milliseconds(300))
  }

  @Test(.enabled(if: Soak.isOn))
  func registeringResolvingOverridingAndResettingForAMinuteIsSafeSoak() {
    stress(for: .seconds(60))
  }

  private func stress(for duration: Duration) {
    let owner = OwnStorage()
    let storage = owner.storage
    let end = ContinuousClock.now + duration
    let (wrong, done) = (Counter(), Counter())
    @Sendable func register(_ name: String) {
      storage.register { Client(name) as any API }
      storage.register(scope: .session("s")) { Part() }
      storage.register {
        Whole(part: try storage.resolve(), api: try storage.resolve((any API).self))
      }
      storage.register(scope: .weak) { Counter() }
      storage.register(scope: .instance) { Terrier() as any Animal }
      storage.register { Tabby() as any Animal }
    }
    register("start")
    Threads.run(8) { index in
      var round = index
      while ContinuousClock.now < end {
        round += 1
        switch round % 8 {
        case 0: register("\(index)-\(round)")
        case 1: storage.reset()
        case 2: storage.resetSession("s")
        case 3:
          let seen = storage.withOverrides {
            storage.register(Client("double \(index)") as any API)
            return try? storage.resolve(Whole.self).api.name
          }
          if seen != "double \(index)" { wrong.add() }
        case 4:
          if (try? storage.resolve((any Animal).self, (any Dog).self)) == nil { wrong.add() }
        default:
          if (try? storage.resolve(Whole.self)) == nil { wrong.add() }
          if (try? storage.resolve(Counter.self)) == nil { wrong.add() }
          if (try? storage.resolve(Part.self)) == nil { wrong.add() }
        }
        done.add()
      }
    }
    #expect(wrong.value == 0 && done.value > 8)
  }
}
