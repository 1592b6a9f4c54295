import CryptoCore
import Foundation
import Synchronization
import TestSupport
import Testing

/// A child forked at any moment can seal, open, hash and make keys.
///
/// It never waits for a thread that only its parent has. Each test runs in a process of its own.
struct ForkTests {
  @Test func aChildForkedWhileThreadsSealNeverHangs() async {
    await #expect(processExitsWith: .success) {
      let fixtures = try AEADAlgorithm.all.map { try Fixture($0) }
      ForkTests.check(children: 100, threads: 8) {
        for fixture in fixtures { _ = try ForkTests.use(fixture) }
      } child: {
        for fixture in fixtures { try ForkTests.use(fixture) }
      }
    }
  }

  /// A thread's first random bytes hold a lock inside OpenSSL, whichever library asks for them.
  @Test func aChildForkedWhileThreadsStartNeverHangs() async {
    await #expect(processExitsWith: .success) {
      let fixture = try Fixture()
      ForkTests.check(children: 100, threads: 4) {
        let done = DispatchSemaphore(value: 0)
        Thread {
          OpenSSLRandom.draw()
          done.signal()
        }.start()
        done.wait()
      } child: {
        try ForkTests.use(fixture)
      }
    }
  }

  @Test func aChildForkedWhileKeysComeAndGoNeverHangs() async {
    await #expect(processExitsWith: .success) {
      let make: @Sendable () throws -> Void = {
        let fixture = try Fixture()
        try ForkTests.use(fixture)
        _ = try SecureBytes.random(count: 100)
      }
      ForkTests.check(children: 100, threads: 4, make, child: make)
    }
  }

  private static func use(_ fixture: Fixture) throws {
    let record = try fixture.key.seal([1, 2, 3], for: fixture.context(name: "other"))
    let opened = try fixture.key.open(record, for: fixture.context(name: "other"))
    guard opened == [1, 2, 3] else { throw CocoaError(.fileReadCorruptFile) }
  }

  /// Forks while threads repeat `busy`, and expects each child to end `child` well and in time.
  private static func check(
    children: Int, threads: Int, _ busy: @escaping @Sendable () throws -> Void,
    child: @escaping @Sendable () throws -> Void
  ) {
    let isOver = Flag()
    var outcomes: [ForkedChild.Outcome: Int] = [:]
    // What a child uses has to be there before it.
    #expect(throws: Never.self) { try child() }
    ForkedChild.prepare()
    let fork = {
      for _ in 0..<children where outcomes[.hung] == nil {
        let (outcome, _) = ForkedChild.run(deadline: 120) { _ in
          do {
            try child()
            return 0
          } catch {
            return 1
          }
        }
        outcomes[outcome, default: 0] += 1
      }
      isOver.value.store(true, ordering: .relaxed)
    }
    Threads.run(threads, meanwhile: fork) { _ in
      while !isOver.value.load(ordering: .relaxed) { try? busy() }
    }
    #expect(outcomes == [.exited(0): children], "\(outcomes)")
  }

  private final class Flag: Sendable {
    let value = Atomic(false)
  }
}
