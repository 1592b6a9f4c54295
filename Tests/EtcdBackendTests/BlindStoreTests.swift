import EtcdBackend
import Foundation
import RemoteBackend
import RemoteTesting
import StorageTesting
import TestSupport
import Testing

/// What those see, and can do, who run etcd or listen on the way.
struct BlindStoreTests {
  private static let key = KeySource.key(SymmetricKey(data: Data(repeating: 7, count: 32)))

  @Test func theTrafficHoldsNoNameAndNoValue() throws {
    let cluster = try SharedCluster.one()
    let proxy = FaultProxy(to: cluster.ports[0])
    defer { proxy.end() }
    proxy.capture()
    func program(_ deadline: Int) -> EtcdStorage {
      EtcdStorage(
        EtcdConfiguration(
          endpoints: ["http://127.0.0.1:\(proxy.port)"], prefix: "/traffic",
          deadline: .seconds(deadline)), keySource: Self.key)
    }
    let one = program(60)
    try one.create()
    let two = program(59)
    try two.open(.mustExist)
    try one.save("marker-of-a-value", forKey: "marker-of-a-name")
    try one.acknowledge(as: "marker-of-a-machine")
    while try two.load(String.self, forKey: "marker-of-a-name") == nil { usleep(1_000) }
    _ = try one.keyAdministration.rotateDataKey()
    #expect(try two.machines().map(\.name) == ["marker-of-a-machine"])
    let traffic = proxy.captured
    #expect(traffic.range(of: Data("/traffic/h".utf8)) != nil, "the search finds what is there")
    #expect(traffic.range(of: Data("marker-of".utf8)) == nil)
    #expect(traffic.range(of: Data(repeating: 7, count: 32)) == nil)
  }

  @Test func asManyTasksAsThereAreProcessorsWriteAtOnce() async throws {
    let cluster = try SharedCluster.one()
    let storage = cluster.storage("/tasks")
    try storage.create()
    // Each assignment waits for etcd on a thread of the cooperative pool.
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<64 {
        group.addTask {
          let property = Store<String, EtcdStorage>(storage, StoreKey("task \(index % 8)"))
          property.wrappedValue = "\(index)"
          #expect(property.wrappedValue != nil)
        }
      }
    }
    #expect(try storage.keys().count == 8)
  }
}
