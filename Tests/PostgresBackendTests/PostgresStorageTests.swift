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

  @Test(arguments: FleetPromise.allCases)
  func aSharedStoreKeeps(_ promise: FleetPromise) async throws {
    try await promise.check(over: try SharedCluster.one())
  }

  @Test(arguments: MachinePromise.allCases)
  func itsMachinesKeep(_ promise: MachinePromise) throws {
    try promise.check(over: try SharedCluster.one())
  }

  @Test(arguments: CopyPromise.allCases)
  func aCopyKeeps(_ promise: CopyPromise) throws { try promise.check(over: SharedCluster.tables()) }
}
