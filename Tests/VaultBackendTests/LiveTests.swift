import CryptoCore
import Foundation
import Observation
import StorageCore
import TestSupport
import Testing
import VaultBackend

/// Live properties of a vault that others write to as well.
struct LiveTests {
  private let vault = TemporaryVault()

  @Test(.timeLimit(.minutes(30))) func changesByAnotherProcessArrive() async throws {
    let live = Live(wrappedValue: "none", vault.storage(), "key")
    #expect(live.wrappedValue == "none")
    let child = try vault.serve()
    let copy = vault.file("copy.vault").path
    var values = Observations { live.wrappedValue }.makeAsyncIterator()
    for (command, expected) in [
      ("save key first", "first"), ("save key second", "second"), ("delete key", "none"),
      ("rotate same names", "none"), ("save key renamed", "renamed"), ("backup \(copy)", "renamed"),
      ("save key later", "later"), ("restore \(copy)", "renamed"), ("save key last", "last"),
    ] {
      _ = try child.ask(command)
      while live.wrappedValue != expected { _ = await values.next() }
      #expect(live.wrappedValue == expected)
    }
  }

  @Test func storagesOfAVaultShareAValue() throws {
    let first = Live<Int?, VaultStorage>(vault.storage(), "key")
    let second = Live<Int?, VaultStorage>(vault.storage(), "key")
    #expect(first.live === second.live)
    first.wrappedValue = 1
    #expect(second.wrappedValue == 1)
    let stranger = Live<Int?, VaultStorage>(vault.storage(TemporaryVault.source(9)), "key")
    #expect(stranger.state == .failed(try #require(stranger.state.error)))
    #expect(stranger.live !== first.live)
  }

  /// A storage opened for reading alone has the file open on its own, and follows it.
  @Test(.timeLimit(.minutes(30))) func aReadOnlyStorageFollows() async throws {
    let storage = vault.storage()
    try storage.save(1, forKey: "key")
    let live = Live(wrappedValue: 0, vault.storage(access: .readOnly), "key")
    #expect(live.wrappedValue == 1)
    try storage.save(2, forKey: "key")
    while live.wrappedValue != 2 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(throws: StorageError.self) { try live.projectedValue.save(3) }
    #expect(live.wrappedValue == 2)
  }

  /// Times of 1,000 changes in a row, with ``Soak`` alone.
  @Test(.enabled(if: Soak.isOn), .timeLimit(.minutes(30)))
  func liveChangesArriveSoonSoak() async throws {
    let live = Live(wrappedValue: -1, vault.storage(), "key")
    #expect(live.wrappedValue == -1)
    let child = try vault.serve()
    let times = try ArrivalTimes.measure(1_000) {
      try child.ask("save-timed key \($0)")
    } read: {
      live.wrappedValue
    }
    print("live changes of a vault: \(ArrivalTimes.describe(times))")
    #expect(times[990] < 10)
  }

  // MARK: - Many

  /// One change wakes only the values of its key, and the process has no thread for each of them.
  @Test(.timeLimit(.minutes(30))) func tenThousandPropertiesOfAVault() async throws {
    let storage = vault.storage()
    try storage.save(0, forKey: "key 0")
    let before = try threads()
    let properties = (0..<10_000).map { Live(wrappedValue: 0, storage, "key \($0)") }
    for property in properties { #expect(property.wrappedValue == 0) }
    let told = Lock<[Int]>([])
    for (index, property) in properties.enumerated() {
      withObservationTracking {
        _ = property.wrappedValue
      } onChange: {
        told.withLock { $0.append(index) }
      }
    }
    let child = try vault.serve()
    _ = try child.ask("save-timed 4321 1")
    _ = try child.ask("save unrelated x")
    try storage.save(5, forKey: "key 1234")
    while told.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
    #expect(properties[1234].wrappedValue == 5)
    #expect(told.withLock { $0 } == [1234])
    // Other tests have theirs, but nobody has one for each.
    #expect(try threads() - before < 1_000)
  }

  private func threads() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
  }

  // MARK: - At random

  @Test(.timeLimit(.minutes(30))) func threadsAndProcessesAtRandomAgree() throws {
    try assignAtRandom(for: .seconds(2), processes: 1)
  }

  @Test(.enabled(if: Soak.isOn), .timeLimit(.minutes(30)))
  func assigningAtRandomForAMinuteIsSafeSoak() throws {
    try assignAtRandom(for: .seconds(60), processes: 4)
  }

  /// Eight threads, and processes besides, assign and read; each value says who wrote it and when.
  ///
  /// Of one writer's values nobody may see an older one after a newer one, nor one never written.
  private func assignAtRandom(for time: Duration, processes: Int) throws {
    let storage = vault.storage()
    let vault = vault
    let end = ContinuousClock.now + time
    // Writers of this process are 0 to 7, others from 8 on; a value is writer * 2^40 + number.
    let last = Lock([Int](repeating: 0, count: 8 + processes))
    Threads.run(8 + processes) { thread in
      noError {
        let child = thread >= 8 ? try vault.serve() : nil
        let live = Live(wrappedValue: 0, storage, "shared")
        var seen = [Int](repeating: 0, count: 8 + processes)
        var number = 0
        while ContinuousClock.now < end {
          if thread >= 8 || Int.random(in: 0..<8) == 0 {
            number += 1
            // Said before it is written: nobody can have seen it before.
            last.withLock { $0[thread] = number }
            let value = thread << 40 + number
            if let child {
              _ = try child.ask("save-timed shared \(value)")
            } else {
              live.wrappedValue = value
            }
          }
          for _ in 0..<10 {
            let value = live.wrappedValue
            guard value != 0 else { continue }
            let (writer, count) = (value >> 40, value & (1 << 40 - 1))
            guard seen.indices.contains(writer), count <= last.withLock({ $0[writer] }) else {
              Issue.record("a value that nobody assigned: \(value)")
              return
            }
            guard count >= seen[writer] else {
              Issue.record("back from \(seen[writer]) to \(count) of \(writer)")
              return
            }
            seen[writer] = count
          }
        }
      }
    }
    let live = Live(wrappedValue: 0, storage, "shared")
    #expect(live.wrappedValue == (try storage.load(Int.self, forKey: "shared")))
  }
}

extension PropertyState {
  fileprivate var error: StorageError? {
    if case .failed(let error) = self { error } else { nil }
  }
}
