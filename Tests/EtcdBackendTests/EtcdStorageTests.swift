import EtcdBackend
import Foundation
import RemoteTesting
import StorageTesting
import TestSupport
import Testing

/// A storage over one real member of etcd.
struct EtcdStorageTests {
  // By day what is not the engine's is tried whole, over one in memory.
  @Test(arguments: Depth.cases(DelegatePromise.all(of: RemoteDelegate.self), day: 8))
  func itKeepsIts(_ promise: DelegatePromise) throws {
    let cluster = try SharedCluster.one()
    try promise.check {
      let prefix = "/promise/\(UUID())"
      return RemoteDelegate(EtcdConfiguration(endpoints: cluster.endpoints, prefix: prefix))
    }
  }

  @Test(arguments: FleetPromise.all + MachinePromise.all)
  func aSharedStoreKeeps(_ promise: EnginePromise) async throws {
    try await promise.check(over: try SharedCluster.one())
  }

  @Test(arguments: CopyPromise.all)
  func aCopyKeeps(_ promise: EnginePromise) async throws {
    try await promise.check(over: EtcdCluster())
  }

  @Test func rowsBelowAnotherPrefixDontOpen() throws {
    let cluster = try SharedCluster.one()
    let one = cluster.storage("/from")
    try one.create()
    try one.save("1", forKey: "k")
    // All rows, copied by somebody who can write to etcd.
    _ = try Child.run([
      "sh", "-c",
      """
      export ETCDCTL_API=3 ETCDCTL_ENDPOINTS=\(cluster.endpoints[0])
      etcdctl get --prefix /from/ -w json | python3 -c '
      import base64, json, subprocess, sys
      for row in json.load(sys.stdin)["kvs"]:
          name = base64.b64decode(row["key"]).replace(b"/from/", b"/to/")
          if b"\\0" in name: continue
          subprocess.run(["etcdctl", "put", "--", name], input=base64.b64decode(row["value"]))
      '
      """,
    ])
    let other = cluster.storage("/to")
    let error = #expect(throws: StorageError.self) { try other.open(.mustExist) }
    #expect(error?.code == .wrongKey || error?.code == .damaged)
  }

  @Test(
    arguments: [
      "", "10.0.0.1:2379", "ftp://a:1", "http://a", "http://a:0", "http://a:70000",
      "http://u:p@a:1", "http://a b:1", "http://a:1/x",
    ].map { ($0, "/t") } + ["", "/", "a/", "a\0b"].map { ("http://127.0.0.1:1", $0) })
  func anEndpointOrAPrefixThatIsNoneIsRefused(_ endpoint: String, _ prefix: String) {
    let storage = EtcdStorage(
      endpoints: [endpoint], prefix: prefix, keySource: .key(SymmetricKey(size: .bits256)))
    let error = thrown { try storage.open() }
    #expect(error?.code == .invalid)
    #expect(error?.message.contains("u:p") == false)
  }
}

/// One cluster for the tests that only need any.
enum SharedCluster {
  fileprivate static let shared = Lock<EtcdCluster?>(nil)

  static func one() throws -> EtcdCluster {
    try shared.withLock { cluster in
      if let cluster { return cluster }
      let new = try EtcdCluster()
      cluster = new
      // Nothing else ends the processes of a cluster that is never released.
      atexit { SharedCluster.shared.withLock { $0 = nil } }
      return new
    }
  }
}
