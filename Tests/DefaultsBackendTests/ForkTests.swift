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
}
