import CryptoCore
import Foundation
import SingletonBackend
import StorageCore
import Synchronization
import TestSupport
import Testing

/// Readers of a live property while another thread writes it.
struct LiveReaderTests {
  private let storage = SingletonStorage()

  /// Has two threads read, the value and the state, and one write, for half a second, or by night for two.
  ///
  /// A reader that copied a value too late would find the memory of one that is gone.
  private func race<Value: Codable & Sendable & Equatable>(
    _ first: Value, _ value: @escaping @Sendable (Int) -> Value,
    isWhole: @escaping @Sendable (Value) -> Bool
  ) {
    let live = Live(wrappedValue: first, storage, "key")
    live.wrappedValue = first
    let end = ContinuousClock.now + .milliseconds(Depth.count(2_000, day: 500))
    let torn = Atomic<Int>(0)
    Threads.run(3) { thread in
      var count = 0
      while ContinuousClock.now < end {
        for _ in 0..<100 {
          count += 1
          if thread == 0 {
            live.wrappedValue = value(count)
          } else if thread == 1 {
            if !isWhole(live.wrappedValue) { torn.add(1, ordering: .relaxed) }
          } else {
            guard case .value(let value) = live.state, isWhole(value) else {
              torn.add(1, ordering: .relaxed)
              continue
            }
          }
        }
      }
    }
    #expect(torn.load(ordering: .relaxed) == 0)
  }

  @Test func anArrayIsReadWhileItIsWritten() {
    race([String(repeating: "a", count: 30)]) { index in
      [String](repeating: String(repeating: "b", count: 30), count: 1 + index % 20)
    } isWhole: { array in
      !array.isEmpty && array.allSatisfy { $0.utf8.count == 30 }
    }
  }
}
