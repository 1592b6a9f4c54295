#if Server
  import CryptoCore
  import Foundation
  import Logging
  import Metrics
  import MetricsTestKit
  import RemoteBackend
  import RemoteTesting
  import SecureService
  import StorageCore
  import StorageTesting
  import Synchronization
  import TestSupport
  import Testing

  struct ReportTests {
    @Test func writesFailuresAndChangesOfKeysAreCountedAndReadsAreNot() async throws {
      let metrics = TestMetrics()
      let (logger, _) = Recorder.logger()
      let storage = FaultyStorage()
      let service = StorageService(
        [.storage(storage, named: "tokens")], logger: logger, metrics: metrics)
      try await service.open()
      func total(_ label: String, _ more: [(String, String)] = []) -> Int64 {
        metrics.counterTotal(label: label, dimensions: [("store", "tokens")] + more)
      }
      try storage.save(1, forKey: "a")
      try storage.save(2, forKey: "b")
      try storage.saveAll(["c": 3, "d": 4])
      try storage.update(Int.self, forKey: "a") { $0 = 5 }
      try storage.delete(forKey: "b")
      #expect(total("securestorage_writes") == 6)
      for _ in 0..<100 { _ = try storage.load(Int.self, forKey: "a") }
      #expect(total("securestorage_writes") == 6)
      storage.faults.fail(.writes, with: .failure(StorageError(.full, "no space left")))
      #expect(throws: StorageError.self) { try storage.save(2, forKey: "a") }
      storage.faults.recover()
      storage.faults.fail(.reads, with: .failure(StorageError(.locked, "locked for the test")))
      #expect(throws: StorageError.self) { try storage.load(Int.self, forKey: "a") }
      storage.faults.recover()
      #expect(
        total("securestorage_failures", [("operation", "write"), ("code", "full")]) == 1)
      #expect(
        total("securestorage_failures", [("operation", "read"), ("code", "locked")]) == 1)
      try storage.removeAll()
      #expect(total("securestorage_writes") == 9)
      #expect(total("securestorage_key_changes") == 0)
      _ = try storage.keyAdministration.rotateDataKey()
      #expect(total("securestorage_key_changes") == 1)
      await service.check()
      let age = try metrics.expectGauge("securestorage_check_age_seconds", [("store", "tokens")])
      #expect((0..<60).contains(age.lastValue ?? -1))
    }

    @Test func aConnectionThatIsLostAndFoundAndChangesThatWereMissedAreCounted() async throws {
      let metrics = TestMetrics()
      let cluster = MemoryCluster(isPrompt: false)
      let isAway = Atomic<Bool>(false)
      var options = RemotePlace.Options()
      options.follows = false
      let place = RemotePlace(
        MemoryEngine(cluster, fate: { isAway.load(ordering: .relaxed) ? .refused : .done }), options
      )
      let storage = DelegatedStorage(place, keySource: .key(key))
      let service = StorageService(
        [.storage(storage, named: "fleet")], logger: Recorder.logger().0, metrics: metrics)
      try await service.open()
      func total(_ label: String, _ more: [(String, String)] = []) -> Int64 {
        metrics.counterTotal(label: label, dimensions: [("store", "fleet")] + more)
      }
      try storage.save(0, forKey: "known")
      isAway.store(true, ordering: .relaxed)
      for _ in 0..<3 { #expect(throws: StorageError.self) { try place.repair() } }
      #expect(total("securestorage_connection_losses", [("code", "unavailable")]) == 1)
      isAway.store(false, ordering: .relaxed)
      try place.repair()
      let away = try metrics.expectGauge("securestorage_away_seconds", [("store", "fleet")])
      #expect((0..<60).contains(away.lastValue ?? -1))
      let other = DelegatedStorage(
        RemotePlace(MemoryEngine(cluster), options), keySource: .key(key))
      // Its first write also reserves seals in the header.
      try other.save(1, forKey: "first")
      try place.repair()
      let following = try place.follow { _ in }
      try other.save(1, forKey: "missed")
      cluster.deliver { _ in true }
      try place.repair()
      #expect(total("securestorage_repaired_changes") == 1)
      withExtendedLifetime(following) {}
    }

    @Test func theLoggerGetsEachThingOnceAndThenItsCount() throws {
      HandlerTurn.begin()
      let former = StorageDiagnostics.handler
      defer {
        StorageDiagnostics.handler = former
        HandlerTurn.end()
      }
      let (logger, entries) = Recorder.logger()
      StorageDiagnostics.log(to: logger)
      let storage = FaultyStorage()
      try storage.save("VALUE-marker", forKey: "report-key")
      let property = Store<String, FaultyStorage>(storage, "report-key")
      storage.faults.fail(.reads, with: .failure(StorageError(.locked, "locked for this test")))
      for _ in 0..<1_000 { #expect(property.wrappedValue == nil) }
      let ours = entries.all.withLock { $0.filter { $0.metadata["key"] == "report-key" } }
      #expect(ours.count == 1)
      #expect(ours.first?.level == .error && ours.first?.metadata["code"] == "locked")
      #expect(!entries.texts.joined().contains("marker"))
      // A name with a line break would forge a line of the log. What is wrong with one value is said
      // for each key.
      let damaged = FaultyStorage()
      try damaged.save("VALUE-marker", forKey: "report-key")
      damaged.faults.fail(.reads, with: .failure(StorageError(.damaged, "damaged for this test")))
      _ = Store<String, FaultyStorage>(damaged, "report-key\nerror: forged").wrappedValue
      #expect(
        entries.all.withLock { $0.contains { $0.metadata["key"] == "report-key?error: forged" } })
    }
  }
#endif
