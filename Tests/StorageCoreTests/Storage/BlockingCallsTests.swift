import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import TestSupport
import Testing

@Suite struct BlockingCallsTests {
  private let storage = DelegatedStorage.fresh()

  private struct Refusal: Error, Equatable { let number: Int }

  private enum Caller {
    @TaskLocal static var name = "nobody"
  }

  @Test func severalCallsRunInOneBodyAndGiveAResult() async throws {
    let sum = try await storage.async { storage in
      try storage.saveAll(["a": 1, "b": 2])
      return try storage.keys().reduce(0) { try $0 + (storage.load(Int.self, forKey: $1) ?? 0) }
    }
    #expect(sum == 3)
    #expect(try storage.load(Int.self, forKey: "b") == 2)
  }

  /// Compiles only while a body's type of error is that of the call.
  private func code(_ storage: some Storage) async -> StorageError.Code? {
    do throws(StorageError) {
      _ = try await storage.async { (storage) throws(StorageError) in try storage.keys() }
      return nil
    } catch {
      return error.code
    }
  }

  @Test func anErrorComesThroughUnchanged() async throws {
    await #expect(throws: Refusal(number: 7)) {
      try await storage.async { _ in throw Refusal(number: 7) }
    }
    await #expect(throws: Refusal(number: 8)) {
      try await SecureStorage.async { throw Refusal(number: 8) }
    }
    let faulty = FaultyStorage()
    let refusal = StorageError(.locked, "on cue")
    faulty.faults.fail(.all, with: .failure(refusal))
    let error = await #expect(throws: StorageError.self) {
      try await faulty.async { try $0.load(Int.self, forKey: "key") }
    }
    #expect(error?.code == .locked && error?.key == "key")
    #expect(await code(faulty) == .locked)
    #expect(await code(storage) == nil)
  }

  @Test func theBodySeesTheTasksValues() async {
    await Caller.$name.withValue("caller") {
      #expect(await storage.async { _ in Caller.name } == "caller")
      #expect(await SecureStorage.async { Caller.name } == "caller")
    }
  }

  @Test func aCancelledTaskRunsTheBodyWhichCanTell() async throws {
    let storage = storage
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await storage.async { storage in
        try storage.save(7, forKey: "key")
        return Task.isCancelled
      }
    }
    #expect(try await task.value)
    #expect(try storage.load(Int.self, forKey: "key") == 7)
  }

  @MainActor @Test func theMainActorIsNotBlocked() async throws {
    let barrier = Barrier()
    let storage = storage
    async let isMain = storage.async { _ in
      barrier.wait()
      return Thread.isMainThread
    }
    while barrier.arrived == 0 { try await Task.sleep(for: .milliseconds(1)) }
    barrier.open()
    #expect(await !isMain)
  }

  /// More bodies wait than Swift concurrency has threads, and other tasks go on.
  @Test(arguments: [true, false])
  func bodiesThatWaitHoldNoThreadOfSwiftConcurrency(_ isOfAnObject: Bool) async throws {
    let barrier = Barrier()
    let storage = storage
    let count = min(4 * ProcessInfo.processInfo.activeProcessorCount, 128)
    try await withThrowingTaskGroup { group in
      for _ in 0..<count {
        group.addTask {
          if isOfAnObject {
            await storage.async { _ in barrier.wait() }
          } else {
            await SecureStorage.async { barrier.wait() }
          }
        }
      }
      while barrier.arrived < count { try await Task.sleep(for: .milliseconds(1)) }
      await withTaskGroup { others in
        for _ in 0..<count { others.addTask { await Task.yield() } }
      }
      barrier.open()
      try await group.waitForAll()
    }
  }
}
