import Foundation
import TestSupport
import Testing

@testable import VaultBackend

/// The log is copied in one process while others write: https://sqlite.org/wal.html#walresetbug.
@Suite struct CheckpointTests {
  private let vault = TemporaryVault()

  /// A checkpoint is stopped before it begins, and again when it knows how long the log is: others
  /// who copy the log meanwhile, begin it anew and write on, lose nothing.
  @Test func noCommitBeginsTheLogAnewWhileACheckpointRuns() async throws {
    await #expect(processExitsWith: .success) { [path = vault.path as String] in
      HaltingSQLite.install()
      let storage = VaultStorage(
        at: URL(fileURLWithPath: path), keySource: .key(TemporaryVault.key),
        deadline: .seconds(60))
      try storage.save("start", forKey: "start")
      let other = try helper.start(["serve", path])
      #expect(try other.ask("save other start") == "saved")
      let isDone = Lock(false)
      HaltingSQLite.arm()
      Thread.detachNewThread {
        // More frames than the log may have before it is copied.
        noError { try storage.save(Data(repeating: 5, count: 3 << 20), forKey: "large") }
        isDone.withLock { $0 = true }
      }
      try #require(HaltingSQLite.waits(60))
      let copied = try other.ask("save-within 300 other copied")
      HaltingSQLite.resume()
      // It comes here only if somebody wrote before it had its lock.
      while !HaltingSQLite.waits(0.01), !isDone.withLock({ $0 }) {}
      if !isDone.withLock({ $0 }) {
        #expect(try other.ask("save-within 300 other anew") == "error busy")
        HaltingSQLite.resume()
        while !isDone.withLock({ $0 }) { usleep(1000) }
      }
      // Else the checkpoint at the end of this process could stop, with nobody to let it go on.
      HaltingSQLite.disarm()
      #expect(copied == "error busy", "it was written while a checkpoint ran")
      // So much that the log is copied and begun anew again.
      for round in 0..<4 {
        #expect(try other.ask("fill 20 \(60_000 + round)") == "filled")
        #expect(try other.ask("save round-\(round) \(round)") == "saved")
      }
      other.kill()
      _ = try other.lines()
      #expect(try helper.run("verify", path) == ["sound 27"])
      let fresh = try helper.start(["serve", path])
      for round in 0..<4 { #expect(try fresh.ask("load round-\(round)") == "\(round)") }
      #expect(try fresh.ask("load-data large") == "\(3 << 20)")
      #expect(try fresh.ask("load-data fill-19") == "60003")
      fresh.release()
    }
  }

  /// Each writes so much that the log is copied, and begun anew, all the time.
  private func race(_ rounds: Int) throws {
    try vault.storage().save(0, forKey: "start")
    let writers = try (0..<4).map {
      try helper.start(["write-large", vault.path, "\($0)", "\(rounds)"])
    }
    for writer in writers { #expect(try writer.lines() == ["written"]) }
    let storage = vault.storage()
    for writer in 0..<4 {
      for key in 0..<min(8, rounds) {
        let last = rounds - 1 - (rounds - 1 - key) % 8
        let value = try storage.load(Data.self, forKey: "writer \(writer) key \(key)")
        #expect(value == Data(repeating: UInt8(truncatingIfNeeded: last), count: 150_000))
      }
    }
    #expect(try storage.verify().isSound)
  }

  @Test func writersThatCopyTheLogAllTheTimeLoseNothing() throws { try race(60) }

  @Test(.enabled(if: Soak.isOn)) func writersThatCopyTheLogAllTheTimeLoseNothingSoak() throws {
    try race(4_000)
  }

  @Test func theLogIsCutOffWhenAnOldSlotWasInIt() throws {
    let storage = vault.storage()
    try storage.save(Data(repeating: 5, count: 500_000), forKey: "large")
    try storage.keyAdministration.change(to: TemporaryVault.source(9))
    let log = try FileManager.default.attributesOfItem(atPath: vault.path + "-wal")
    #expect(try #require(log[.size] as? Int) < 10_000)
  }

  @Test func theVersionsThatLoseCommitsAreKnown() {
    for (number, isConcerned) in [
      (3_006_023, false), (3_007_000, true), (3_040_001, true), (3_044_005, true),
      (3_044_006, false), (3_045_000, true), (3_050_006, true), (3_050_007, false),
      (3_051_000, true), (3_051_002, true), (3_051_003, false), (3_053_000, false),
    ] {
      #expect(SQLiteVersion(number: Int32(number)).hasLogResetFault == isConcerned, "\(number)")
    }
    #expect(SQLiteVersion(number: 3_040_001).description == "3.40.1")
  }
}
