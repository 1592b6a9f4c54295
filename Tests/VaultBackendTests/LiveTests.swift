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

  @Test func changesByAnotherProcessArrive() async throws {
    let live = Live(wrappedValue: "none", vault.storage(), "key")
    #expect(live.wrappedValue == "none")
    let child = try vault.serve()
    let copy = vault.file("copy.vault").path
    var values = Observations { live.wrappedValue }.makeAsyncIterator()
    for (command, expected) in [
      ("save key first", "first"), ("save key second", "second"), ("delete key", "none"),
      ("rotate same names", "none"), ("save key renamed", "renamed"), ("backup \(copy)", "renamed"),
      ("save key later", "later"), ("restore \(copy)", "renamed"), ("discard", "none"),
      ("save key last", "last"),
    ] {
      _ = try child.ask(command)
      while live.wrappedValue != expected { _ = await values.next() }
      #expect(live.wrappedValue == expected)
    }
  }

  /// Times of 1,000 changes in a row, with ``Soak`` alone.
  @Test(.enabled(if: Soak.isOn))
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

  /// One change wakes only the values of its key.
  @Test func tenThousandPropertiesOfAVault() async throws {
    let storage = vault.storage()
    try storage.save(0, forKey: "key 0")

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
    // Longer than the longest pause in which late observers are told again.
    try await Task.sleep(for: .milliseconds(1_500))
    #expect(told.withLock { $0 } == [1234])
  }

  /// In a process of its own, where nobody else has threads.
  @Test func morePropertiesTakeNoMoreThreads() throws {
    let child = try vault.serve()
    #expect(try child.ask("save-timed key 1").flatMap { UInt64($0) } != nil)
    let one = try #require(try child.ask("live-threads 1").flatMap { Int($0) })
    let many = try #require(try child.ask("live-threads 10000").flatMap { Int($0) })
    // Those of Dispatch come and go.
    #expect(many - one <= 4, "\(one) threads for one property, \(many) for 10,000")
  }

  /// The others go on meanwhile; whoever wakes up is told, and has the last value.
  @Test func aProcessThatSleptHasTheLastValue() throws {
    let storage = vault.storage()
    try storage.save(1, forKey: "key")
    let child = try vault.serve()
    let other = try vault.serve()
    #expect(try child.ask("live key") == "1")
    #expect(try child.ask("live-shown key") == "1")
    for round in 1...3 {
      child.send(SIGSTOP)
      for number in 2..<200 { try storage.save(round * 1_000 + number, forKey: "key") }
      #expect(try other.ask("save-timed key \(round * 1_000 + 999)") != nil)
      child.send(SIGCONT)
      let last = "\(round * 1_000 + 999)"
      #expect(waits(.seconds(120)) { (try? child.ask("live-shown key")) == last })
      #expect(try child.ask("live key") == last)
    }
  }

  // MARK: - At random

  @Test func threadsAndProcessesAtRandomAgree() throws {
    try assignAtRandom(for: .seconds(1), processes: 1)
  }

  @Test(.enabled(if: Soak.isOn))
  func assigningAtRandomForAMinuteIsSafeSoak() throws {
    try assignAtRandom(for: .seconds(60), processes: 4)
  }

  /// Eight threads, and processes besides, assign, read and check; see ``RandomAssignments``.
  private func assignAtRandom(for time: Duration, processes: Int) throws {
    let storage = vault.storage()
    let writers = 8 + processes
    let file = vault.file("numbers").path
    let assignments = try RandomAssignments(file, writers: writers)
    let milliseconds = Int(time / .milliseconds(1))
    let children = try (0..<processes).map { _ in Lock(try vault.serve()) }
    // Writers of this process are 0 to 7, others from 8 on.
    Threads.run(writers) { writer in
      noError {
        guard writer < 8 else {
          let command = "assign-at-random shared \(file) \(writer) \(writers) \(milliseconds)"
          let answer = try children[writer - 8].withLock { try $0.ask(command) }
          #expect(answer == "fine")
          return
        }
        let live = Live(wrappedValue: 0, storage, "shared")
        let complaint = assignments.run(
          writer, for: time, assign: { live.wrappedValue = $0 }, read: { live.wrappedValue })
        #expect(complaint == nil)
      }
    }
    let last = try #require(try storage.load(Int.self, forKey: "shared"))
    let live = Live(wrappedValue: 0, storage, "shared")
    #expect(live.wrappedValue == last)
    for child in children {
      child.withLock { child in
        // A notice may still be on its way to another process.
        #expect(waits(.seconds(120)) { (try? child.ask("live shared")) == "\(last)" })
        #expect(waits(.seconds(120)) { (try? child.ask("live-shown shared")) == "\(last)" })
      }
    }
  }
}
