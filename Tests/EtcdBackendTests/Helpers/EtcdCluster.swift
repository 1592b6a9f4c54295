import EtcdBackend
import Foundation
import RemoteTesting
import StorageTesting
import TestSupport

/// A cluster of real etcd processes on this machine, in a folder of its own, which goes away with it.
final class EtcdCluster: @unchecked Sendable {
  // One test uses it at a time.
  private struct Member {
    let client: Int
    let peer: Int
    var process: Child?
  }
  let folder: URL
  private var members: [Member]
  private let options: [String]
  private let authority: TestAuthority?
  private var scheme: String { authority == nil ? "http" : "https" }

  /// Starts a cluster, and waits until it answers.
  ///
  /// With an authority, programs must show a certificate of its making.
  init(members count: Int = 1, options: [String] = [], authority: TestAuthority? = nil) throws {
    self.authority = authority
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    self.options =
      options
      + (authority.map {
        [
          "--cert-file", $0.file("server.pem").path, "--key-file", $0.file("server.key").path,
          "--trusted-ca-file", $0.file("ca.pem").path, "--client-cert-auth",
        ]
      } ?? [])
    members = []
    // Another process may take a port before the member does.
    for _ in 0..<5 {
      let ports = FreePorts.find(2 * count)
      members = (0..<count).map { Member(client: ports[2 * $0], peer: ports[2 * $0 + 1]) }
      for index in 0..<count { try start(index) }
      if waitUntilItAnswers() { return }
      for index in 0..<count { kill(index) }
      for index in 0..<count { try? FileManager.default.removeItem(at: data(index)) }
    }
    throw CocoaError(.executableLoad)
  }

  deinit {
    for index in members.indices { kill(index) }
    try? FolderRemoval.remove(folder)
  }

  private func data(_ index: Int) -> URL { folder.appendingPathComponent("m\(index)") }

  /// The address of each member.
  var endpoints: [String] { members.map { "\(scheme)://127.0.0.1:\($0.client)" } }

  /// The ports of the members.
  var ports: [Int] { members.map(\.client) }

  /// The folder of the members' data and logs.
  var path: String { folder.path }

  /// Starts a member, anew or with the data that it has.
  func start(_ index: Int) throws {
    let member = members[index]
    let peers = members.indices.map { "m\($0)=http://127.0.0.1:\(members[$0].peer)" }
    members[index].process = try Child(
      [
        "sh", "-c", "exec etcd \"$@\" >>\(folder.path)/log\(index) 2>&1", "sh",
        "--name", "m\(index)", "--data-dir", data(index).path,
        "--listen-client-urls", "\(scheme)://127.0.0.1:\(member.client)",
        "--advertise-client-urls", "\(scheme)://127.0.0.1:\(member.client)",
        "--listen-peer-urls", "http://127.0.0.1:\(member.peer)",
        "--initial-advertise-peer-urls", "http://127.0.0.1:\(member.peer)",
        "--initial-cluster", peers.joined(separator: ","), "--logger", "zap",
        "--log-outputs", "stderr", "--log-level", "warn",
      ] + options)
  }

  /// Ends a member as a loss of power does, and waits for that.
  func kill(_ index: Int) {
    members[index].process?.send(SIGCONT)
    members[index].process?.kill()
    _ = try? members[index].process?.lines()
    members[index].process = nil
  }

  /// Ends a member as its operator does, so that it answers what it was asked before, and waits.
  func terminate(_ index: Int) {
    members[index].process?.send(SIGTERM)
    _ = try? members[index].process?.lines()
    members[index].process = nil
  }

  /// Stops a member, which keeps its connections.
  func stop(_ index: Int) { members[index].process?.send(SIGSTOP) }

  /// Lets a stopped member go on.
  func resume(_ index: Int) { members[index].process?.send(SIGCONT) }

  /// The member that leads; nil while there is none.
  var leader: Int? {
    for index in members.indices where members[index].process != nil {
      let lines =
        (try? Child.run([
          "timeout", "5", "sh", "-c",
          "ETCDCTL_API=3 etcdctl --endpoints=\(endpoints[index]) endpoint status -w json 2>/dev/null",
        ])) ?? []
      let status = lines.first.flatMap {
        try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [[String: Any]]
      }
      guard let answer = status?.first?["Status"] as? [String: Any],
        let header = answer["header"] as? [String: Any],
        let member = header["member_id"] as? UInt64, let leader = answer["leader"] as? UInt64
      else { continue }
      if member == leader { return index }
    }
    return nil
  }

  /// Runs etcdctl, and gives what it says.
  @discardableResult
  func control(_ arguments: String...) throws -> [String] { try control(arguments) }

  /// Runs etcdctl, and gives what it says.
  @discardableResult
  func control(_ arguments: [String]) throws -> [String] {
    try Child.run(
      ["env", "ETCDCTL_API=3", "etcdctl", "--endpoints=" + endpoints.joined(separator: ",")]
        + arguments)
  }

  /// Puts a snapshot in the place of the only member's data, as an administrator does.
  func restore(_ snapshot: String) throws {
    kill(0)
    try FileManager.default.removeItem(at: data(0))
    try control(
      "snapshot", "restore", snapshot, "--name", "m0", "--data-dir", data(0).path,
      "--initial-cluster", "m0=http://127.0.0.1:\(members[0].peer)",
      "--initial-advertise-peer-urls", "http://127.0.0.1:\(members[0].peer)")
    try start(0)
    while !waitUntilItAnswers() {}
  }

  /// Another cluster at the addresses of this one.
  func startAnew() throws {
    kill(0)
    try FileManager.default.removeItem(at: data(0))
    try start(0)
    while !waitUntilItAnswers() {}
  }

  /// Whether the members answer, which may take a while after their start.
  private func waitUntilItAnswers() -> Bool {
    for _ in 0..<600 {
      // Whatever is said about the row or the certificate is an answer.
      let log = members.indices.map { index in
        (try? String(contentsOfFile: folder.path + "/log\(index)", encoding: .utf8)) ?? ""
      }
      if log.contains(where: { $0.contains("address already in use") }) { return false }
      let isReady =
        (try? Child.run([
          "sh", "-c",
          "ETCDCTL_API=3 etcdctl --endpoints=\(endpoints[0]) \(identity) get x >/dev/null 2>&1 && echo yes",
        ])) ?? []
      if isReady == ["yes"] { return true }
      usleep(100_000)
    }
    return false
  }

  /// What etcdctl shows.
  private var identity: String {
    guard let authority else { return "" }
    let (certificate, key) = (authority.file("client.pem").path, authority.file("client.key").path)
    return "--insecure-skip-tls-verify --cert \(certificate) --key \(key)"
  }

  /// A store below a prefix.
  func storage(
    _ prefix: String = "/t", key: UInt8 = 7, deadline: Duration = .seconds(60),
    reading: RemoteReading = .cached, access: StoreAccess = .mustExist
  ) -> EtcdStorage {
    EtcdStorage(
      EtcdConfiguration(
        endpoints: endpoints, prefix: prefix, access: access, deadline: deadline),
      keySource: .key(SymmetricKey(data: Data(repeating: key, count: 32))), reading: reading)
  }
}

extension EtcdCluster: FleetEngine {
  func store(
    _ name: String, keySource: KeySource, deadline: Duration, reading: RemoteReading,
    copy: DelegatedStorage?, port: Int?
  ) -> RemoteStorage {
    EtcdStorage(
      EtcdConfiguration(
        endpoints: port.map { ["\(scheme)://127.0.0.1:\($0)"] } ?? endpoints, prefix: "/" + name,
        deadline: deadline, copy: copy),
      keySource: keySource, reading: reading)
  }

  func start(_ name: String, _ command: [String]) throws -> Child {
    try HelperProgram("EtcdTestChild").start([endpoints[0], "/" + name, "60000"] + command)
  }

  func holds(_ name: String) throws -> Bool {
    try !control("get", "--prefix", "/\(name)/", "--keys-only").isEmpty
  }

  func removal(of name: String) -> String {
    "etcdctl del --prefix '/\(name.replacing("'", with: "'\\''"))/'"
  }

  func remove(_ name: String) throws { try control("del", "--prefix", "/\(name)/") }

  func backUp() throws -> String {
    let snapshot = "\(path)/\(UUID())"
    try control("snapshot", "save", snapshot)
    return snapshot
  }

  func goBack(to backup: String) throws { try restore(backup) }
}
