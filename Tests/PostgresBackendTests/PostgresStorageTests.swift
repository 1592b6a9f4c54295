import Foundation
import PostgresBackend
import RemoteTesting
import StorageTesting
import TestSupport
import Testing

/// A storage over one real server.
struct PostgresStorageTests {
  // By day what is not the engine's is tried whole, over one in memory.
  @Test(arguments: Depth.cases(DelegatePromise.all(of: RemoteDelegate.self), day: 8))
  func itKeepsIts(_ promise: DelegatePromise) throws {
    let cluster = try SharedCluster.one()
    try promise.check {
      RemoteDelegate(PostgresConfiguration(cluster.connection(), store: "promise \(UUID())"))
    }
  }

  @Test(arguments: FleetPromise.all + MachinePromise.all)
  func aSharedStoreKeeps(_ promise: EnginePromise) async throws {
    try await promise.check(over: try SharedCluster.one())
  }

  @Test(arguments: CopyPromise.all)
  func aCopyKeeps(_ promise: EnginePromise) async throws {
    try await promise.check(over: SharedCluster.tables())
  }
}
