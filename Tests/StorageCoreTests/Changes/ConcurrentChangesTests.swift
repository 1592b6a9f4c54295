import CryptoCore
import Dispatch
import StorageCore
import Testing

@Suite struct ConcurrentChangesTests {
  /// Starts threads that write, and returns when all are done; `meanwhile` runs beside them.
  private func write(
    _ threads: Int, _ body: @escaping @Sendable (Int) -> Void, meanwhile: () async -> Void
  ) async {
    let group = DispatchGroup()
    for thread in 0..<threads {
      DispatchQueue.global().async(group: group) { body(thread) }
    }
    await meanwhile()
    await withCheckedContinuation { continuation in
      group.notify(queue: .global()) { continuation.resume() }
    }
  }

  /// Every commit makes the next number, so the order of commits is that of the numbers.
  @Test func listenersSeeValuesInTheOrderOfCommitsUpToTheLast() async throws {
    let storage = DelegatedStorage.fresh()
    let counter = UnwrappedStore<Int, DelegatedStorage>(wrappedValue: 0, storage, "k")
    await write(4) { _ in
      for _ in 0..<500 { #expect(throws: Never.self) { try counter.update { $0 += 1 } } }
    } meanwhile: {
      let listeners = (0..<5).map { _ in counter.values.makeAsyncIterator() }
      for var values in listeners {
        var last = -1
        while last < 2000 {
          let next = await values.next() ?? -2
          #expect(next > last)
          last = next > last ? next : 2000
        }
      }
    }
    #expect(try counter.load() == 2000)
  }
}
