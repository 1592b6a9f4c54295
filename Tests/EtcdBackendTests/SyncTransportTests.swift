import EtcdBackend
import Foundation
import LocalData
import StorageTesting
import Testing

/// What LocalData's sync needs of a store that machines share.
struct SyncTransportTests {
  @Test func aReplacementComparesForAllMachines() async throws {
    let cluster = try SharedCluster.one()
    try cluster.storage("/sync").create()
    let transports = (0..<4).map { machine in
      StorageSyncTransport(
        cluster.storage("/sync", deadline: .seconds(50 + machine), reading: .linearizable),
        id: "team")
    }
    #expect(try await transports[0].read("counter") == nil)
    // Each machine adds one, ten times, by what it has read; nobody's addition may be lost.
    try await withThrowingTaskGroup { group in
      for transport in transports {
        group.addTask {
          var added = 0
          while added < 10 {
            let old = try await transport.read("counter")
            let new = Data([(old?.first ?? 0) + 1])
            if try await transport.replace("counter", old, with: new) { added += 1 }
          }
        }
      }
      try await group.waitForAll()
    }
    for transport in transports {
      #expect(try await transport.read("counter") == Data([40]))
      #expect(try await !transport.replace("counter", nil, with: Data([0])))
      #expect(try await !transport.replace("counter", Data([39]), with: Data([0])))
    }
  }
}
