import CryptoCore
import TestSupport
import Testing

/// Keys and hashes are lent to any number of threads at once.
struct ConcurrencyTests {
  @Test(arguments: AEADAlgorithm.all)
  func sixteenThreadsSealAndOpenUnderOneKey(_ algorithm: AEADAlgorithm) throws {
    let fixture = try Fixture(algorithm)
    let wrong = Lock(0)
    Threads.run(16) { thread in
      do {
        let context = try fixture.context(tag: [UInt8(thread)])
        let other = try fixture.context(tag: [UInt8(thread + 1)])
        for round in 0..<500 {
          let plaintext = [UInt8](repeating: UInt8(thread), count: round % 70)
          let record = try fixture.key.seal(plaintext, for: context)
          let opened = try fixture.key.open(record, for: context)
          let refusal = code { _ = try fixture.key.open(record, for: other) }
          if opened != plaintext || refusal != .authenticationFailed { wrong.withLock { $0 += 1 } }
        }
      } catch {
        wrong.withLock { $0 += 1 }
      }
    }
    #expect(wrong.withLock { $0 } == 0)
  }

  /// A context keeps the header of its first use; the others' must not get into its place.
  @Test func threadsOfSeveralKeysShareOneContext() throws {
    let fixture = try Fixture()
    let keys = try (0..<8).map {
      try DataKey(.random(), id: UInt32($0), algorithm: AEADAlgorithm.all[$0 % 3])
    }
    let wrong = Lock(0)
    for _ in 0..<50 {
      let shared = try fixture.context()
      Threads.run(8) { thread in
        for _ in 0..<20 {
          // Sealed under the shared context, opened under one of its own.
          guard let record = try? keys[thread].seal([1, 2, 3], for: shared),
            let own = try? fixture.context(),
            (try? keys[thread].open(record, for: own)) == [1, 2, 3],
            (try? keys[thread].open(record, for: shared)) == [1, 2, 3]
          else {
            wrong.withLock { $0 += 1 }
            continue
          }
        }
      }
    }
    #expect(wrong.withLock { $0 } == 0)
  }

  @Test func sixteenThreadsMakeAndDropKeys() throws {
    let wrong = Lock(0)
    Threads.run(16) { thread in
      for round in 0..<300 {
        // Slots of the shared pages, and pages of their own.
        let source = [UInt8](repeating: UInt8(thread), count: round % 100)
        guard let first = try? SecureBytes(source), let second = try? SecureBytes(source),
          first == second, first.exposed == source
        else {
          wrong.withLock { $0 += 1 }
          continue
        }
      }
    }
    #expect(wrong.withLock { $0 } == 0)
  }
}
