import EtcdBackend
import Foundation
import RemoteBackend
import RemoteTesting
import StorageTesting
import TestSupport
import Testing
import VaultBackend

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

  /// Rows of a store, as etcd's administrator reads and writes them.
  private struct Administrator {
    let cluster: EtcdCluster
    let prefix: String

    func run(_ program: String) throws {
      _ = try Child.run([
        "python3", "-c",
        """
        import base64, json, os, subprocess
        os.environ.update(ETCDCTL_API="3", ETCDCTL_ENDPOINTS="\(cluster.endpoints[0])")
        folder = "\(cluster.path)"
        def rows():
            all = subprocess.run(["etcdctl", "get", "--prefix", "\(prefix)/r", "-w", "json"],
                                 check=True, capture_output=True).stdout
            return [(row["key"], row["value"]) for row in json.loads(all).get("kvs", [])]
        def quoted(text):
            return '"' + "".join("\\\\x%02x" % b for b in base64.b64decode(text)) + '"'
        def put(*pairs):
            puts = "".join("put " + quoted(k) + " -- " + quoted(v) + "\\n" for k, v in pairs)
            subprocess.run(["etcdctl", "txn"], input=("\\n" + puts + "\\n\\n").encode(), check=True)
        \(program)
        """,
      ])
    }

    func keep(as name: String) throws {
      try run("json.dump(rows(), open(folder + '/\(name)', 'w'))")
    }

    func putBack(_ name: String) throws {
      try run("put(*json.load(open(folder + '/\(name)')))")
    }

    func swap() throws { try run("(a, b) = rows(); put((a[0], b[1]), (b[0], a[1]))") }
  }

  @Test func rowsThatChangePlacesAreErrors() throws {
    let cluster = try EtcdCluster()
    let one = cluster.storage("/swap")
    try one.create()
    try one.save("1", forKey: "a")
    try one.save("2", forKey: "b")
    let administrator = Administrator(cluster: cluster, prefix: "/swap")
    try administrator.swap()
    for storage in [one, cluster.storage("/swap", deadline: .seconds(58))] {
      try storage.refresh()
      for key in ["a", "b"] {
        #expect(code { _ = try storage.load(String.self, forKey: key) } == .damaged)
      }
    }
    try administrator.swap()
    let other = cluster.storage("/swap", deadline: .seconds(57))
    #expect(try other.load(String.self, forKey: "a") == "1")
    #expect(try other.load(String.self, forKey: "b") == "2")
  }

  @Test(arguments: ["replaced", "removed"])
  func aRowThatIsPutBackIsAnErrorWhereItsEndWasSeen(_ what: String) throws {
    let cluster = try EtcdCluster()
    let copy = cluster.folder.appendingPathComponent("machine/copy.vault")
    func start() -> EtcdStorage {
      EtcdStorage(
        EtcdConfiguration(
          endpoints: cluster.endpoints, prefix: "/back", deadline: .seconds(60),
          copy: VaultStorage(at: copy, keySource: Self.key)), keySource: Self.key)
    }
    let program = start()
    try cluster.storage("/back").create()
    try program.save("old", forKey: "k")
    let live = Live<String?, EtcdStorage>(program, "k")
    #expect(live.wrappedValue == "old")
    let administrator = Administrator(cluster: cluster, prefix: "/back")
    try administrator.keep(as: "rows")
    if what == "removed" {
      try program.delete(forKey: "k")
    } else {
      try program.save("new", forKey: "k")
    }
    try program.refresh()
    try administrator.putBack("rows")
    try program.refresh()
    #expect(code { _ = try program.load(String.self, forKey: "k") } == .damaged)
    #expect(code { _ = try live.load() } == .damaged)
    #expect(
      code { try program.update(String.self, forKey: "k") { $0 = ($0 ?? "") + "x" } } == .damaged)
    let exact = cluster.storage("/back", reading: .linearizable)
    // A program that has not seen it change takes it: etcd says that it is new.
    #expect(try exact.load(String.self, forKey: "k") == "old")
    // One that starts with the machine's copy knows.
    let started = start()
    #expect(code { _ = try started.load(String.self, forKey: "k") } == .damaged)
    try started.save("again", forKey: "k")
    #expect(try started.load(String.self, forKey: "k") == "again")
    try program.refresh()
    #expect(try program.load(String.self, forKey: "k") == "again")
    #expect(live.wrappedValue == "again")
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
