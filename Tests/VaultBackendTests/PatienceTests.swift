import Glibc
import Testing

@testable import VaultBackend

/// How long a connection waits for others' locks, told apart by limits that are long over or far
/// away.
@Suite struct PatienceTests {
  private let patience = Patience()

  @Test func aLimitEndsTheWaitBeforeTheDeadline() {
    patience.begin(until: .now + .seconds(3600), atMost: .zero)
    #expect(!patience.wait())
    patience.begin(until: .now + .seconds(3600), atMost: .milliseconds(10))
    var waits = 0
    while waits < 10_000, patience.wait() { waits += 1 }
    #expect((1..<10_000).contains(waits))
  }

  @Test func aLimitIsOfOneGoAlone() {
    patience.begin(until: .now + .seconds(3600), atMost: .zero)
    #expect(!patience.wait())
    #expect(!patience.wait())
    patience.begin(until: .now + .seconds(3600), atMost: nil)
    #expect(patience.wait())
  }

  @Test func noLimitLengthensTheDeadline() {
    patience.begin(until: .now, atMost: .seconds(3600))
    #expect(!patience.wait())
  }

  @Test func aLimitBeginsWithTheFirstLockThatIsMet() {
    patience.begin(until: .now + .seconds(3600), atMost: .milliseconds(30))
    usleep(60_000)
    #expect(patience.wait())
  }
}
