#if Server
  import CryptoCore
  import Foundation
  import MetricsTestKit
  import RemoteBackend
  import RemoteTesting
  import StorageCore
  import Synchronization
  import Testing

  @testable import SecureService

  /// What an operator's dashboard shows of a store that machines share.
  struct FleetMetricsTests {
    private let metrics = TestMetrics()

    /// What a gauge shows; nil if nothing was recorded yet.
    private func value(_ label: String, _ more: [(String, String)] = []) -> Double? {
      do {
        return try metrics.expectGauge("securestorage_\(label)", [("store", "fleet")] + more)
          .lastValue
      } catch { return nil }
    }

    private static let failure = StorageError(.unavailable, "away for the test")

    @Test(
      arguments: [
        (.unused, 0, nil),
        (.current(age: .seconds(3)), 1, 3),
        (.away(failure, since: .seconds(9), age: .seconds(12)), 0, 12),
        (.unkept(failure, since: .seconds(9), age: .milliseconds(4_500)), 1, 4.5),
      ] as [(RemoteState, Double, Double?)])
    func aStateIsWhetherChangesAreFollowedAndHowOldMemoryIs(
      _ state: RemoteState, connected: Double, age: Double?
    ) {
      StoreMetrics(store: "fleet", metrics).record(state, [], of: [])
      #expect(value("connected") == connected)
      #expect(value("age_seconds") == age)
    }

    @Test func aMachinesSlotsAndItsConnectionAreShownWhileTheServiceRuns() async throws {
      let cluster = MemoryCluster()
      let isAway = Atomic<Bool>(false)
      let way = RemoteWay(
        ["\(UUID())"], place: "fleet", access: .readWrite, deadline: .milliseconds(200), copy: nil
      ) { MemoryEngine(cluster, fate: { isAway.load(ordering: .relaxed) ? .refused : .done }) }
      let delegate = RemoteDelegate(
        reading: .cached, .init(missing: "make it") { name, _ in "remove \(name)" }
      ) { way }
      let storage = RemoteStorage(delegate, keySource: .key(key))
      try storage.create()
      let service = StorageService(
        [.storage(storage, named: "fleet")], logger: Recorder.logger().0,
        checkInterval: .milliseconds(10), metrics: metrics)
      let running = Task { try await service.run() }

      try await waits { value("connected") == 1 && value("acknowledged", [("slot", "1")]) == 0 }
      // The name that the machine gave itself, and not its host name alone.
      try storage.acknowledge(as: "web1")
      try await waits { value("acknowledged", [("slot", "1")]) == 1 }
      let added = try storage.keyAdministration.add(.passphrase("of another machine"))
      try await waits { value("acknowledged", [("slot", "\(added.id)")]) == 0 }
      #expect(value("acknowledged", [("slot", "1")]) == 1)
      #expect((0..<60).contains(value("age_seconds") ?? -1))
      isAway.store(true, ordering: .relaxed)
      #expect(throws: StorageError.self) { try storage.refresh() }
      try await waits { value("connected") == 0 }

      running.cancel()
      try await running.value
    }
  }
#endif
