import Foundation
import KeyringTesting
import StorageTesting
import Testing

@testable import KeyringBackend

/// Which servers, ports and paths a password is for.
@Suite(.ownDaemon) struct ServerTests {
  private let desktop: Desktop
  private let foreign: Foreign

  init() throws {
    desktop = try Desktop()
    foreign = try Foreign(desktop)
  }

  private func server(_ port: Int?, _ path: String? = nil) -> Credential<String> {
    Credential(
      SharedCredential(
        .server("example.com", port: port, path: path, protocol: nil, label: nil),
        account: "me", group: nil, access: .patient, client: desktop.client, errorClosure: nil))
  }

  @Test func anotherPortOrPathIsNeverReplacedOrRemoved() throws {
    try server(8443).save("of the port")
    try server(nil, "/admin").save("of the path")
    #expect(try foreign.items(["server": "example.com"]).count == 2)
    let plain = server(nil)
    try plain.save("plain")
    #expect(try foreign.items(["server": "example.com"]).count == 3)
    #expect(try plain.load() == "plain", "the exact one comes first")
    #expect(try server(8443).load() == "of the port")
    #expect(try server(nil, "/admin").load() == "of the path")
    try plain.save("plain again")
    try plain.remove()
    #expect(try server(8443).load() == "of the port")
    #expect(try server(nil, "/admin").load() == "of the path")
    try plain.remove()
    #expect(try foreign.items(["server": "example.com"]).count == 2)
    try server(9).save("of another port")
    #expect(try server(8443).load() == "of the port")
    #expect(try server(9).load() == "of another port")
  }

  @Test func aPasswordOfAnotherPortOrPathIsNotRead() throws {
    try server(8443, "/a").save("of the port")
    for other in [server(nil), server(443), server(8443), server(nil, "/a"), server(8443, "/b")] {
      #expect(try other.load() == nil)
      #expect(try !other.core.contains())
      try other.remove()
    }
    #expect(try server(8443, "/a").load() == "of the port")
    try server(nil).save("plain")
    #expect(try server(nil).load() == "plain")
    // Other programs may leave out the port and the path.
    #expect(try server(443).load() == "plain")
    #expect(try server(8443, "/a").load() == "of the port")
  }

  private func url(_ text: String) -> Credential<String> {
    Credential(
      SharedCredential(
        .server(of: URL(string: text), protocol: nil, label: nil), account: "me", group: nil,
        access: .patient, client: desktop.client, errorClosure: nil))
  }

  @Test func theHostOfAURLIsTheSameInLettersOfAnyCase() throws {
    try url("HTTPS://H.Example/").save("one")
    #expect(try url("https://h.example").load() == "one")
    #expect(try foreign.items(["server": "h.example"]).count == 1)
    try url("https://H.EXAMPLE").save("two")
    #expect(try foreign.items(["server": "h.example"]).count == 1)
    #expect(try url("https://h.example").load() == "two")
    #expect(try url("https://h.example:8443/a").load() == "two")
    #expect(try url("http://h.example").load() == nil)
  }

  private static let noHosts = [
    "https://user2:hunter3@leak2.example/x?apikey=zzz", "https://h.example", "me@h5.example",
    "h3.example/path", "h4.example:22", " ", "h example", "h?apikey=hunter3", "h#hunter3", "a\nb",
    "[::1]:22", "::1/64", "h\u{200B}", "",
  ]

  @Test func whatIsNoHostIsInvalidAndIsNotStored() throws {
    for text in Self.noHosts {
      let credential = Credential<String>.server(text, account: "me", on: desktop)
      for body in [
        { try credential.save("x") }, { _ = try credential.load() }, { try credential.remove() },
      ] as [() throws -> Void] {
        let error = #expect(throws: StorageError.self) { try body() }
        #expect(error?.code == .invalid, "\(text)")
        #expect(!"\(error, default: "")".contains("hunter3"))
      }
      #expect(!"\(InternetCredentials(credential))".contains("hunter3"))
    }
    #expect(try foreign.items(["user": "me"]).isEmpty)
  }

  @Test func whatIsNoPortIsInvalid() throws {
    for port in [-1, 0, 65_536, 70_000] {
      #expect(code { try server(port).save("x") } == .invalid)
      #expect(code { _ = try server(port).load() } == .invalid)
      #expect(code { try server(nil, "/a?key=\(port)").save("x") } == .invalid)
    }
    #expect(try foreign.items(["server": "example.com"]).isEmpty)
  }

  @Test func aHostOrAnAddressIsStored() throws {
    let hosts = [
      "localhost", "b\u{FC}cher.example", "10.0.0.1", "::1", "[fe80::1%eth0]", "my_host",
    ]
    for host in hosts {
      let credential = Credential<String>.server(host, account: "me", on: desktop)
      try credential.save("x")
      #expect(try credential.load() == "x")
      #expect(try foreign.items(["server": host]).count == 1)
    }
  }

  @Test(
    arguments: [
      [.server("https://me:hunter3@h.example")], [.server("me@h.example"), .port(443)],
      [.server("h.example"), .port(0)], [.server("h.example"), .path("/a?key=hunter3")],
      [.server("h.example"), .custom("port", "many")],
    ] as [KeyringAttributes])
  func attributesWithoutAnAddressAreNotStored(_ attributes: KeyringAttributes) throws {
    let queries = ItemQueries(client: desktop.client)
    let options = KeyringOptions([.access(.patient)])
    let mark: KeyringAttributes = ["own": "value"]
    let all = attributes.merging(mark).merging([.password("x")])
    #expect(code { try queries.modify(all, mark, options) } == .invalid)
    #expect(code { try queries.modify([.password("x")], attributes, options) } == .invalid)
    #expect(try foreign.items(["own": "value"]).isEmpty)
    // What another program stored is found all the same.
    #expect(try queries.search(attributes, options).isEmpty)
  }
}
