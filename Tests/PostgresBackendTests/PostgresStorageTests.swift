import Foundation
import PostgresBackend
import RemoteTesting
import StorageTesting
import TestSupport
import Testing

/// A storage over one real server.
struct PostgresStorageTests {
  @Test(arguments: DelegatePromise.all(of: RemoteDelegate.self))
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
