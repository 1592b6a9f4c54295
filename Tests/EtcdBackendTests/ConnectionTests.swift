import EtcdBackend
import Foundation
import RemoteTesting
import StorageTesting
import TestSupport
import Testing

/// Encrypted connections, users, and ends that answer otherwise than etcd should.
struct ConnectionTests {
  private static let key = KeySource.key(SymmetricKey(data: Data(repeating: 7, count: 32)))

  private func storage(
    _ endpoints: [String], _ certificates: EtcdCertificates? = nil, user: EtcdUser? = nil,
    prefix: String = "/t", deadline: Duration = .seconds(60)
  ) -> EtcdStorage {
    EtcdStorage(
      EtcdConfiguration(
        endpoints: endpoints, prefix: prefix, certificates: certificates, user: user,
        deadline: deadline),
      keySource: Self.key)
  }

  // MARK: Certificates

  @Test func anEncryptedConnectionChecksBothEnds() throws {
    let authority = try TestAuthority()
    let cluster = try EtcdCluster(authority: authority)
    let own = EtcdCertificates(
      authority: authority.file("ca.pem"), certificate: authority.file("client.pem"),
      key: authority.file("client.key"))
    let good = storage(cluster.endpoints, own)
    try good.create()
    try good.save("a", forKey: "k")
    #expect(
      try storage(cluster.endpoints, own, deadline: .seconds(59)).load(String.self, forKey: "k")
        == "a")
    // Another authority, none of our own, an expired certificate, and no encryption.
    let other = try TestAuthority()
    let strangers = EtcdCertificates(
      authority: other.file("ca.pem"), certificate: authority.file("client.pem"),
      key: authority.file("client.key"))
    #expect(code { try storage(cluster.endpoints, strangers).open() } == .denied)
    let missing = EtcdCertificates(authority: authority.file("none.pem"))
    #expect(code { try storage(cluster.endpoints, missing).open() } == .unavailable)
    let system = code { try storage(cluster.endpoints, deadline: .seconds(50)).open() }
    #expect(system == .denied, "the system's authorities don't know this one")
  }

  @Test func anExpiredCertificateIsDenied() throws {
    let authority = try TestAuthority(days: -1)
    let cluster = try EtcdCluster(authority: authority)
    let own = EtcdCertificates(
      authority: authority.file("ca.pem"), certificate: authority.file("client.pem"),
      key: authority.file("client.key"))
    #expect(code { try storage(cluster.endpoints, own, deadline: .seconds(20)).open() } == .denied)
  }

  @Test func aCertificateIsDueInTheLastThirdOfItsLifeOrInItsLastThreeDays() throws {
    let hour: Int64 = 3600
    // The life, how much of it is left, and whether that is worth a word.
    for (life, left, isDue) in [
      (24, 8, false), (24, 7, true), (6, 2, false), (6, 1, true), (24 * 30, 73, false),
      (24 * 30, 71, true), (24 * 365, 73, false), (24 * 365, 71, true), (24, 0, true),
      (24, -1, true),
    ] as [(Int64, Int64, Bool)] {
      let validity = EtcdValidity(begin: 1_000, end: 1_000 + life * hour)
      #expect(validity.isDue(at: validity.end - left * hour) == isDue, "\(left) of \(life) hours")
    }
    let authority = try TestAuthority()
    let files = EtcdCertificates(
      authority: authority.file("ca.pem"), certificate: authority.file("client.pem"),
      key: authority.file("client.key"))
    let life = try #require(try files.validities()[authority.file("client.pem").path])
    #expect(life.end - life.begin == 48 * hour)
  }

  /// With the usual deadline of a minute nobody would wait for any of these.
  @Test func whatCanNeverSucceedIsRefusedByItsNameAndNotByTheDeadline() throws {
    let (authority, other) = (try TestAuthority(), try TestAuthority())
    let expired = try TestAuthority(days: -1, of: "client")
    let elsewhere = try TestAuthority(names: "DNS:elsewhere.example")
    let misnamed = try EtcdCluster(authority: elsewhere)
    let (secure, open) = (try EtcdCluster(authority: authority), try SharedCluster.one())
    func shown(_ client: TestAuthority?, _ trusted: TestAuthority) -> EtcdCertificates {
      guard let client else { return EtcdCertificates(authority: trusted.file("ca.pem")) }
      return EtcdCertificates(
        authority: trusted.file("ca.pem"), certificate: client.file("client.pem"),
        key: client.file("client.key"))
    }
    let port = secure.ports[0]
    let own = shown(authority, authority)
    let web = OddServer("HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nok")
    defer { web.end() }
    let cases: [(String, [String], EtcdCertificates?, StorageError.Code, String)] = [
      ("stranger's client", secure.endpoints, shown(other, authority), .denied, "refuses"),
      ("expired client", secure.endpoints, shown(expired, authority), .denied, "refuses"),
      ("no client", secure.endpoints, shown(nil, authority), .denied, "refuses"),
      ("stranger's server", secure.endpoints, shown(authority, other), .denied, "authority"),
      ("other name", misnamed.endpoints, shown(elsewhere, elsewhere), .denied, "mismatch"),
      ("clear to TLS", ["http://127.0.0.1:\(port)"], nil, .invalid, "use https://"),
      (
        "TLS to clear", ["https://127.0.0.1:\(open.ports[0])"], own, .invalid, "use http://"
      ),
      ("web server", ["http://127.0.0.1:\(web.port)"], nil, .invalid, "not etcd"),
    ]
    for (name, endpoints, certificates, expected, text) in cases {
      for access in ["open", "members"] {
        let storage = storage(endpoints, certificates, prefix: "/\(name)")
        var failure: StorageError?
        if access == "members" {
          // On a busy machine one look may not be enough.
          repeat {
            failure = try storage.members().first?.failure
          } while failure?.code == .unavailable
        } else {
          failure = thrown { try storage.open() }
        }
        #expect(failure?.code == expected, "\(name), \(access)")
        #expect(failure?.message.contains(text) == true, "\(name): \(failure?.message ?? "-")")
      }
    }
    // One good member among bad ones is found.
    let all = ["http://127.0.0.1:\(port)", "https://127.0.0.1:\(port)"]
    #expect(code { try storage(all, own).refresh() } == nil)
  }

  /// A thousand programs that ask at once again bury a member that is starting.
  @Test func aMemberThatCutsConnectionsIsAskedLessAndLess() throws {
    let cluster = try EtcdCluster()
    let direct = cluster.storage()
    try direct.create()
    try direct.save("a", forKey: "k")
    let proxy = FaultProxy(to: cluster.ports[0])
    defer { proxy.end() }
    let program = storage(["http://127.0.0.1:\(proxy.port)"], deadline: .seconds(2))
    #expect(try program.load(String.self, forKey: "k") == "a")
    proxy.mode = .refuse
    // 56 a second before.
    let before = proxy.connections
    sleep(6)
    #expect(proxy.connections - before < 60)
    try direct.save("b", forKey: "k")
    proxy.mode = .pass
    while try program.load(String.self, forKey: "k") != "b" { usleep(1_000) }
  }

  // MARK: Users

  @Test func aUserSeesItsPrefixAndGetsNewTokens() throws {
    let cluster = try EtcdCluster()
    for command in [
      ["user", "add", "root:r"], ["user", "add", "shop:s"], ["role", "add", "shop"],
      ["role", "grant-permission", "shop", "--prefix=true", "readwrite", "/shop/"],
      ["user", "grant-role", "shop", "shop"], ["user", "grant-role", "root", "root"],
      ["auth", "enable"],
    ] {
      try cluster.control(command)
    }
    let file = URL(fileURLWithPath: cluster.path + "/password")
    try Data("s\n".utf8).write(to: file)
    let shop = storage(
      cluster.endpoints, user: EtcdUser("shop", passwordFile: file), prefix: "/shop")
    try shop.create()
    try shop.save("a", forKey: "k")
    let other = storage(
      cluster.endpoints, user: EtcdUser("shop", passwordFile: file), prefix: "/shop",
      deadline: .seconds(50))
    #expect(try other.load(String.self, forKey: "k") == "a")
    #expect(
      code {
        try storage(
          cluster.endpoints, user: EtcdUser("shop", passwordFile: file), prefix: "/other"
        ).create()
      } == .denied)
    let wrong = EtcdUser("shop") { () throws(StorageError) in
      try .of("wrong")
    }
    #expect(
      code { try storage(cluster.endpoints, user: wrong, prefix: "/shop").refresh() } == .denied)
    #expect(code { try storage(cluster.endpoints, prefix: "/shop").refresh() } == .denied)
    // A member that starts anew knows none of the tokens.
    cluster.kill(0)
    try cluster.start(0)
    try shop.save("b", forKey: "k")
    while try other.load(String.self, forKey: "k") != "b" { usleep(1_000) }
    try shop.save("c", forKey: "k")
    while try other.load(String.self, forKey: "k") != "c" { usleep(1_000) }
  }

  @Test func aUserWhereEtcdHasNoneIsInvalid() throws {
    let cluster = try SharedCluster.one()
    let user = EtcdUser("shop") { () throws(StorageError) in try .of("s") }
    #expect(code { try storage(cluster.endpoints, user: user).refresh() } == .invalid)
    let failing = EtcdUser("shop") { () throws(StorageError) in
      throw StorageError(.locked, "unlock it")
    }
    #expect(
      code { try storage(cluster.endpoints, user: failing, prefix: "/u").refresh() } == .locked)
  }

  // MARK: Ends that are odd

  @Test(arguments: ["\0\0\0", ""])
  func anEndpointThatIsNoEtcdIsAnErrorByTheDeadline(_ answer: String) throws {
    let server = OddServer(answer)
    defer { server.end() }
    let error = code {
      try storage(["http://127.0.0.1:\(server.port)"], deadline: .seconds(2)).open()
    }
    #expect(error == .unavailable)
  }
}
