import Foundation
import TestSupport
import Testing

/// Each runs in a process of its own, where no other test's threads draw nonces or fork.
struct NonceTests {
  /// 8 x 22,000 seals on threads; 12 x 2,000 in children and grandchildren.
  @Test func noNonceComesTwiceIn200000Seals() async throws {
    let result = try await #require(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      try NonceTests.check(NonceRun(sealsPerThread: 22_000, children: 12, sealsPerChild: 2000))
    }
    print(String(decoding: result.standardOutputContent, as: UTF8.self), terminator: "")
  }

  private static func check(_ run: NonceRun) throws {
    let result = try run.run()
    let seals = run.threads * run.sealsPerThread + run.children * run.sealsPerChild
    print("nonces: \(seals) seals, \(run.threads) threads, \(run.children) forked children")
    #expect(result.outcomes == [.exited(0): run.children], "\(result.outcomes)")
    // Half of the threads draw 24 bytes.
    #expect(result.nonces.count == seals + run.threads / 2 * run.sealsPerThread)
    #expect(result.repeated == 0, "\(result.repeated) nonces came twice")
    #expect(result.zeroes == 0, "\(result.zeroes) nonces were zero")
  }
}
