import CryptoCore
import DefaultsBackend
import StorageCore
import TestSupport
import Testing

/// A server that opens a storage and then forks its workers, before it starts a thread.
struct ForkTests {
  @Test func workersThatAreForkedFromAnIdleProcessShareAStorage() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      let storage = UserDefaultsStorage(folder.delegate(), keySource: .key(sampleKey))
      let countUp: () -> Int32 = {
        do {
          for _ in 0..<20 {
            try storage.update(Int.self, forKey: "count") { $0 = ($0 ?? 0) + 1 }
          }
          return 0
        } catch {
          return 1
        }
      }
      #expect(countUp() == 0)
      ForkedChild.prepare()
      for _ in 0..<3 {
        // Each worker has one of its own beside it.
        let (outcome, _) = ForkedChild.run(deadline: 120) { _ in
          let (other, _) = ForkedChild.run(deadline: 120) { _ in countUp() }
          return other == .exited(0) ? countUp() : 2
        }
        #expect(outcome == .exited(0))
      }
      #expect(countUp() == 0)
      let count = try storage.load(Int.self, forKey: "count")
      #expect(count == 160)
    }
  }

  @Test func aForkedChildAndItsParentSeeEachOthersWritesAtTheNextRead() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      let delegate = folder.delegate()
      try delegate.set(record(0), for: name(0))
      ForkedChild.prepare()
      for round in 1...20 {
        // The last look at the file, which the child inherits, is as young as can be.
        #expect(try delegate.record(for: name(0)) == record(2 * round - 2))
        let (outcome, _) = ForkedChild.run(deadline: 120) { _ in
          do {
            guard try delegate.record(for: name(0)) == record(2 * round - 2) else { return 1 }
            try delegate.set(record(2 * round - 1), for: name(0))
            return try delegate.record(for: name(0)) == record(2 * round - 1) ? 0 : 2
          } catch {
            return 3
          }
        }
        #expect(outcome == .exited(0))
        #expect(try delegate.record(for: name(0)) == record(2 * round - 1))
        try delegate.set(record(2 * round), for: name(0))
      }
    }
  }
}
