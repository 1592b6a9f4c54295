internal import CryptoCore
internal import Foundation
package import RemoteBackend
internal import StorageCore
package import TestSupport
internal import Testing

/// Eight processes at work on one store, while a test disturbs them and their servers.
package enum FleetChaos {
  /// Runs them to their end, and checks that what they said could have happened.
  ///
  /// - Parameters:
  ///   - seed: what chooses all that happens.
  ///   - operations: how many they do together.
  ///   - start: starts a process with a deadline in milliseconds and a command.
  ///   - disturb: done again and again until all have ended; gets the processes.
  ///   - exact: a storage that asks the engine, at the end.
  /// - Throws: what the closures throw, and `StorageError` of the last reads.
  package static func run(
    seed: UInt64, operations: Int, start: (_ deadline: Int, _ command: [String]) throws -> Child,
    disturb: (inout SeededRandom, inout [Child]) throws -> Void, exact: () throws -> RemoteStorage
  ) throws {
    var random = SeededRandom(seed)
    var running = try (0..<8).map { index in
      // Where time is short, it happens that nobody knows what became of a write.
      try start(
        index % 2 == 0 ? 10_000 : 700,
        ["work", "p\(index)", "\(seed * 100 + UInt64(index))", "\(operations / 8)", "12"])
    }
    let histories = Lock<[[String]]>([])
    // Each process is read by a thread, or it would wait for a reader of its lines.
    for child in running {
      nonisolated(unsafe) let child = child
      DetachedThread.start("reader") {
        let lines = (try? unsafe child.lines()) ?? []
        histories.withLock { $0.append(lines) }
      }
    }
    while histories.withLock({ $0.count }) < 8 {
      usleep(UInt32.random(in: 20_000...400_000, using: &random))
      try disturb(&random, &running)
    }
    var history = FleetHistory()
    for lines in histories.withLock({ $0 }) { history.add(lines) }
    #expect(history.acknowledged > operations / 4, "\(history.acknowledged) of \(operations)")
    print(
      "fleet: seed \(seed): \(history.acknowledged) acknowledged, \(history.refused) refused, "
        + "\(history.unknown) unknown")
    // What is there now is part of the history, too.
    let exact = try exact()
    for (key, register) in history.registers.sorted(by: { $0.key < $1.key }) {
      #expect(register.isLinearizable(), "seed \(seed), \(key)")
      var whole = register
      whole.calls.append(
        .init(
          operation: .read(try exact.load(String.self, forKey: StoreKey(key))),
          begin: .max - 1, end: .max))
      #expect(whole.isLinearizable(), "seed \(seed), \(key), at the end")
    }
  }
}
