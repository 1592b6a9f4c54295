import TestSupport
import Testing

@testable import CryptoCore

@Suite struct SetOnceTests {
  /// Counts those of its kind that live.
  private final class Counted: Sendable {
    private let living: Lock<Int>

    init(_ living: Lock<Int>) {
      self.living = living
      living.withLock { $0 += 1 }
    }

    deinit { living.withLock { $0 -= 1 } }
  }

  private final class Owner: Sendable {
    let object = SetOnce<Counted>()
  }

  @Test func threadsThatSetAtTheSameTimeAllGetTheSameObject() {
    for _ in 0..<20 {
      let living = Lock(0)
      let owner = Owner()
      let wrong = Lock(0)
      Threads.run(4) { _ in
        let mine = owner.object.storeIfNil(Counted(living))
        if owner.object.load() !== mine { wrong.withLock { $0 += 1 } }
      }
      #expect(wrong.withLock { $0 } == 0)
      // What the others brought is gone.
      #expect(living.withLock { $0 } == 1)
    }
  }

  @Test func theObjectLivesAsLongAsItsOwner() {
    let living = Lock(0)
    var owner: Owner? = Owner()
    #expect(owner?.object.load() == nil)
    _ = owner?.object.storeIfNil(Counted(living))
    #expect(owner?.object.load() != nil)
    #expect(living.withLock { $0 } == 1)
    owner = nil
    #expect(living.withLock { $0 } == 0)
  }
}
