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

  @Test func eachValueIsSeenOnceInTheOrderOfCommits() async throws {
    let storage = DelegatedStorage.fresh()
    let counter = UnwrappedStore<Int, DelegatedStorage>(wrappedValue: 0, storage, "k")
    var values = counter.values.makeAsyncIterator()
    #expect(await values.next() == 0)
    await write(4) { _ in
      for _ in 0..<250 { #expect(throws: Never.self) { try counter.update { $0 += 1 } } }
    } meanwhile: {
      // Every commit makes the next number, so the order of commits is that of the numbers.
      for expected in 1...1000 {
        let seen = await values.next()
        guard seen == expected else {
          Issue.record("\(String(describing: seen)) came where \(expected) should")
          return
        }
      }
    }
    #expect(try counter.load() == 1000)
  }

  @Test func theLastValueSeenIsTheStoredOne() async throws {
    let storage = DelegatedStorage.fresh()
    let property = Store<Int, DelegatedStorage>(storage, "k")
    var values = property.values.makeAsyncIterator()
    _ = await values.next()
    var seen: [Int] = []
    await write(4) { thread in
      for index in 0..<100 {
        #expect(throws: Never.self) { try property.save(thread * 1000 + index) }
      }
    } meanwhile: {
      for _ in 0..<400 { seen.append((await values.next() ?? nil) ?? -1) }
    }
    #expect(try property.load() == seen.last)
    for thread in 0..<4 {
      let own = seen.filter { $0 / 1000 == thread }
      #expect(own == (0..<100).map { thread * 1000 + $0 })
    }
  }

  @Test func whoStartsToListenWhileOthersWriteMissesNothing() async throws {
    let storage = DelegatedStorage.fresh()
    let counter = UnwrappedStore<Int, DelegatedStorage>(wrappedValue: 0, storage, "k")
    await write(2) { _ in
      for _ in 0..<1000 { #expect(throws: Never.self) { try counter.update { $0 += 1 } } }
    } meanwhile: {
      let listeners = (0..<5).map { _ in counter.values.makeAsyncIterator() }
      for var values in listeners {
        // From where it started, every value up to the last.
        var last = await values.next() ?? 2000
        while last < 2000 {
          let next = await values.next()
          #expect(next == last + 1)
          last = next ?? 2000
        }
      }
    }
    #expect(try counter.load() == 2000)
  }
}
