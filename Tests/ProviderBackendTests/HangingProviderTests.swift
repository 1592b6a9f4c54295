import CryptoCore
import Dispatch
import Foundation
import Observation
import ProviderBackend
import StorageCore
import StorageTesting
import TestSupport
import Testing

/// A provider whose call does not return, or that uses its own storage, holds up nobody for ever.
struct HangingProviderTests {
  private let provider = TestProvider()
  private let key = KeySource.key(SymmetricKey(size: .bits256))

  private func sealed(_ deadline: Duration = .seconds(60)) -> ProviderStorage {
    ProviderStorage(provider, keySource: key, deadline: deadline)
  }
  private func plain() -> ProviderStorage {
    ProviderStorage(plain: provider, deadline: .seconds(60), errorClosure: { _ in })
  }

  /// One provider is one place, whatever is kept there.
  @Test func aSealedAndAPlainStorageTakeTurns() throws {
    let (sealed, plain) = (sealed(), plain())
    try sealed.save(1, forKey: "key")
    try plain.save(encodable: 2, forKey: "key")
    let isInside = DispatchSemaphore(value: 0)
    // Long enough for the other storage to come in between, if it did not wait.
    provider.inNextCall {
      isInside.signal()
      usleep(200_000)
    }
    Threads.run(2) { thread in
      do throws(StorageError) {
        if thread == 0 {
          #expect(try sealed.load(Int.self, forKey: "key") == 1)
        } else {
          isInside.wait()
          #expect(try plain.load(decodable: Int.self, forKey: "key") == 2)
        }
      } catch {
        Issue.record(error)
      }
    }
    #expect(provider.insideAtMost == 1)
  }

  /// A call that has not returned is one of the provider, and not of the storage that made it.
  @Test func aCallThatHangsKeepsOtherStoragesFromTheProvider() throws {
    let go = DispatchSemaphore(value: 0)
    let done = DispatchSemaphore(value: 0)
    do {
      let storage = sealed(.milliseconds(100))
      provider.inNextCall {
        go.wait()
        done.signal()
      }
      #expect(throws: StorageError.self) { try storage.load(Int.self, forKey: "key") }
    }
    let error = #expect(throws: StorageError.self) {
      try plain().load(decodable: Int.self, forKey: "key")
    }
    #expect(error?.code == .timedOut)
    #expect(provider.insideAtMost == 1)
    func isReady() -> Bool {
      do throws(StorageError) {
        return try plain().load(decodable: Int.self, forKey: "key") == nil
      } catch {
        return false
      }
    }
    #expect(!isReady())
    go.signal()
    done.wait()
    // The call of before is about to return.
    while !isReady() { usleep(1_000) }
  }

  @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .seconds(1 << 40)])
  func aDurationOfAnyLengthWillDo(_ time: Duration) throws {
    let deadline = max(time, .seconds(60))
    let sealed = ProviderStorage(provider, keySource: key, polling: time, deadline: deadline)
    @Live(sealed, "key") var live = 0
    live = 1
    #expect(live == 1)
    let plain = ProviderStorage(plain: provider, polling: time, deadline: deadline)
    @Live(plain, "plain") var other = 0
    other = 1
    #expect(other == 1)
    let silent = ProviderStorage(
      SilentProvider(base: TestProvider()), keySource: key, polling: time, deadline: deadline)
    @Live(silent, "key") var third = 0
    third = 1
    #expect(third == 1)
  }

  @Test func aCallThatHangsHasADeadline() async throws {
    // Long enough for the first calls on a busy machine.
    let storage = sealed(.seconds(5))
    try storage.save(1, forKey: "key")
    let go = DispatchSemaphore(value: 0)
    provider.inNextCall { go.wait() }
    let late = #expect(throws: StorageError.self) { try storage.save(2, forKey: "key") }
    #expect(late?.code == .outcomeUnknown)
    // Nobody waits again for a call that hangs already.
    let calls = provider.calls
    let next = #expect(throws: StorageError.self) { try storage.load(Int.self, forKey: "key") }
    #expect(next?.code == .timedOut)
    #expect(provider.calls == calls)
    go.signal()
    while (try? storage.load(Int.self, forKey: "key")) == nil {
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(try storage.load(Int.self, forKey: "key") == 2)
  }

  @Test func anObservationThatHangsHoldsUpNobodyForLonger() async throws {
    let hanging = HangingProvider(base: provider)
    let storage = ProviderStorage(
      plain: hanging, deadline: .seconds(1), errorClosure: { _ in })
    let live = Live(wrappedValue: 0, storage, "key")
    let start = ContinuousClock.now
    #expect(live.wrappedValue == 0)
    #expect(ContinuousClock.now - start < .seconds(20))
    provider.replace("key", with: Data("7".utf8))
    hanging.go.signal()
    while live.wrappedValue != 7 { try await Task.sleep(for: .milliseconds(1)) }
  }

  @Test func aProviderMayNotUseItsStorage() throws {
    let storage = sealed()
    try storage.save(1, forKey: "key")
    let codes = Lock<[StorageError.Code]>([])
    provider.inNextCall {
      do throws(StorageError) { _ = try storage.load(Int.self, forKey: "key") } catch {
        codes.withLock { $0.append(error.code) }
      }
    }
    #expect(try storage.load(Int.self, forKey: "key") == 1)
    #expect(codes.withLock { $0 } == [.invalid])
  }

  /// The storage holds its own lock while it is opened, and waits for the provider meanwhile.
  @Test func aProviderMayNotUseTheStorageThatIsBeingOpened() throws {
    let (storage, other) = (sealed(.seconds(3_600)), sealed(.seconds(3_600)))
    let codes = Lock<[StorageError.Code]>([])
    for used in [storage, other] {
      provider.inNextCall {
        do throws(StorageError) {
          try used.save(2, forKey: "other")
        } catch {
          codes.withLock { $0.append(error.code) }
        }
      }
      try storage.save(1, forKey: "key")
      #expect(try storage.load(Int.self, forKey: "key") == 1)
    }
    #expect(codes.withLock { $0 } == [.invalid, .invalid])
    #expect(try storage.load(Int.self, forKey: "other") == nil)
  }
}
