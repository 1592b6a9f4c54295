import Foundation
import TestSupport
import Testing

@testable import KeyringBackend

/// Secrets that programs hand one another, each way.
@Suite struct InteropTests {
  private static let secrets: [[UInt8]] =
    Odd.kept.map { Array($0.utf8) } + [
      [0], [0xff, 0, 0xfe], Array(0...255), Array(repeating: 0xaa, count: 1 << 20),
      Array(String(repeating: "ä", count: 1 << 19).utf8),
    ]

  /// Whether it is text that every service keeps as it is.
  private static func isText(_ secret: [UInt8]) -> Bool {
    String(validating: secret, as: UTF8.self) != nil && !secret.contains(0)
  }

  private let desktop: Desktop
  private let foreign: Foreign
  // A host's name in some of them.
  private let service = Desktop.freshService().lowercased()

  init() throws {
    desktop = try Desktop()
    foreign = try Foreign(desktop)
  }

  // MARK: - Ours

  @Test func secretToolAndPythonReadWhatIsStored() throws {
    let container = desktop.keyring(service).container(for: "account")
    for secret in Self.secrets {
      try container.store(Data(secret))
      try expectForeign(secret)
      guard let text = String(validating: secret, as: UTF8.self) else { continue }
      try container.store(text)
      try expectForeign(secret)
      #expect(try foreign.password(service, "account") == text)
    }
  }

  private func expectForeign(_ secret: [UInt8]) throws {
    // It refuses what is said to be no text; gnome-keyring forgets what was said.
    if Desktop.isOwn || Self.isText(secret) {
      let found = try foreign.lookUp(["service": service, "account": "account"])
      #expect(found == secret, "\(secret.prefix(8))")
    }
    // KWallet gives one session in 256 another key than its client's.
    let attempts = 0..<(Desktop.isOwn ? 1 : 3)
    let isRead = try attempts.contains { _ in
      try foreign.items(["service": service]).map(\.secret) == [secret]
    }
    #expect(isRead, "\(secret.prefix(8))")
  }

  @Test func secretToolFindsEveryOddName() throws {
    for name in Odd.kept {
      try desktop.keyring(name).container(for: name).store("secret")
      #expect(
        try foreign.items(["service": name, "account": name]).map(\.secret)
          == [Array("secret".utf8)], "\(name)")
      // secret-tool takes what begins with a dash for an option.
      guard !name.hasPrefix("-"), !name.isEmpty else { continue }
      #expect(
        try foreign.lookUp(["service": name, "account": name]) == Array("secret".utf8), "\(name)")
    }
  }

  // MARK: - Theirs

  @Test func whatSecretToolStoresIsRead() throws {
    let container = desktop.keyring(service).container(for: "account")
    // secret-tool takes 8 KiB.
    for secret in Self.secrets.filter({ $0.count < 8000 }) {
      // It says of all that it is text, which KeePassXC and KWallet believe.
      guard Desktop.isOwn || Self.isText(secret) else { continue }
      try foreign.store(secret, ["service": service, "account": "account"])
      #expect(try container.fetch(Data.self) == Data(secret))
      if let text = String(validating: secret, as: UTF8.self) {
        #expect(try container.fetch(String.self) == text)
      }
    }
    #expect(try desktop.keyring(service).keys() == ["account"])
  }

  @Test func whatSecretStorageStoresIsRead() throws {
    let container = desktop.keyring(service).container(for: "account")
    for secret in Self.secrets {
      try foreign.createItem(
        secret, ["service": service, "account": "account"],
        contentType: "application/octet-stream")
      #expect(try container.fetch(Data.self) == Data(secret))
      if let text = String(validating: secret, as: UTF8.self) {
        #expect(try container.fetch(String.self) == text)
      }
    }
  }

  @Test func whatPythonsKeyringStoresIsReadAndReplacedInItsPlace() throws {
    for name in Odd.kept {
      let container = desktop.keyring("\(service) \(name)").container(for: name)
      try foreign.setPassword("\(service) \(name)", name, "theirs \(name)")
      #expect(try container.fetch(String.self) == "theirs \(name)")
      try container.store("ours \(name)")
      #expect(try foreign.password("\(service) \(name)", name) == "ours \(name)")
      let item = try #require(try foreign.items(["service": "\(service) \(name)"]).first)
      #expect(item.attributes["application"] == "Python keyring library")
      #expect(try desktop.keyring("\(service) \(name)").keys() == [name])
    }
  }

  @Test func everyAttributeOfAForeignItemIsReadBack() throws {
    var attributes = ["service": service]
    for (index, text) in Odd.kept.enumerated() {
      attributes["name \(index)"] = text
      attributes[text.isEmpty ? "empty" : text] = "value"
    }
    try foreign.createItem(
      [1, 0], label: "Käse \"1\"", attributes, contentType: "application/octet-stream")
    let queries = ItemQueries(client: desktop.client)
    let items = try queries.search(["service": service], .matchFirst.union([.access(.patient)]))
    let item = try #require(items.first)
    // gnome-keyring adds a schema to some items, and to some not.
    #expect(Foreign.own(item.attributes).filter { $0.key != "xdg:schema" } == attributes)
    #expect(item.label == "Käse \"1\"")
    #expect(item.data == Data([1, 0]))
    #expect(items.count == 1)
  }

  /// The names, and not only the values: a name is a key of a dictionary on the bus.
  @Test func attributesOfOddNamesAreFoundByOthers() throws {
    var attributes = ["service": service]
    for name in Odd.kept where !name.isEmpty { attributes[name] = "value of \(name)" }
    let queries = ItemQueries(client: desktop.client)
    let options = KeyringOptions.matchFirst.union([.access(.patient)])
    try queries.modify([.password("secret")], KeyringAttributes(attributes), options)
    let item = try #require(try foreign.items(["service": service]).first)
    #expect(item.attributes.filter { $0.key != "xdg:schema" } == attributes)
    for (name, value) in attributes where name != "service" {
      #expect(try queries.search(["service": service, name: value], options).count == 1, "\(name)")
      // secret-tool takes what begins with a dash for an option.
      guard !name.hasPrefix("-") else { continue }
      let found = try foreign.lookUp(["service": service, name: value])
      #expect(found == Array("secret".utf8), "\(name)")
    }
  }

  @Test func attributesOfOddNamesThatSecretToolStoredAreFound() throws {
    var attributes = ["service": service]
    for name in Odd.kept where !name.isEmpty && !name.hasPrefix("-") {
      attributes[name] = "value of \(name)"
    }
    try foreign.store(Array("secret".utf8), attributes)
    let queries = ItemQueries(client: desktop.client)
    let options = KeyringOptions.matchFirst.union([.access(.patient)])
    for (name, value) in attributes where name != "service" {
      let query = KeyringAttributes([name: value, "service": service])
      let item = try #require(try queries.search(query, options).first, "\(name)")
      #expect(item.data == Data("secret".utf8))
      #expect(Foreign.own(item.attributes).filter { $0.key != "xdg:schema" } == attributes)
    }
  }

  // MARK: - Credentials

  @Test func aTokenThatSecretToolStoredIsACredential() throws {
    let token = Credential<String>.service(
      "github.\(service)", account: "me@example.com", on: desktop)
    try foreign.store(
      Array("ghp_1".utf8), ["service": "github.\(service)", "account": "me@example.com"])
    #expect(try token.load() == "ghp_1")
    try token.save("ghp_2")
    #expect(
      try foreign.lookUp(["service": "github.\(service)", "account": "me@example.com"])
        == Array("ghp_2".utf8))
    #expect(try foreign.items(["service": "github.\(service)"]).count == 1)
  }

  @Test func aPasswordForAServerIsFoundByWhateverNameItHas() throws {
    for name in ["user", "account", "username"] {
      let server = "\(name).\(service).example.com"
      try foreign.store(Array("theirs".utf8), ["server": server, name: "me"])
      let credential = Credential<String>.server(
        server, account: "me", protocol: .https, on: desktop)
      #expect(try credential.load() == "theirs")
      try credential.save("ours")
      #expect(try foreign.lookUp(["server": server, name: "me"]) == Array("ours".utf8))
    }
  }

  @Test func aPasswordForAServerIsANetworkPasswordForOthers() throws {
    let url = URL(string: "https://\(service).example.com:8443/deep/path")
    let credential = Credential<String>(
      SharedCredential(
        .server(of: url, protocol: nil, label: nil), account: "me", group: nil, access: .patient,
        client: desktop.client, errorClosure: nil))
    try credential.save("secret")
    #expect(
      try foreign.items(["server": "\(service).example.com"]) == [
        Foreign.Item(
          label: "\(service).example.com",
          attributes: [
            "xdg:schema": "org.gnome.keyring.NetworkPassword", "server": "\(service).example.com",
            "user": "me", "protocol": "https", "port": "8443", "object": "/deep/path",
          ], secret: Array("secret".utf8))
      ])
  }
}

extension Credential {
  /// A credential of a service, in this desktop's keyring.
  static func service(
    _ service: String, account: String? = nil, label: String? = nil,
    access: KeyringAccess = .patient, on desktop: Desktop,
    errorClosure: StorageErrorClosure? = nil
  ) -> Credential {
    Credential(
      SharedCredential(
        .service(service, label: label), account: account, group: nil, access: access,
        client: desktop.client, errorClosure: errorClosure))
  }

  /// A credential of a server, in this desktop's keyring.
  static func server(
    _ server: String, account: String? = nil, protocol: InternetProtocol? = nil, port: Int? = nil,
    on desktop: Desktop
  ) -> Credential {
    Credential(
      SharedCredential(
        .server(server, port: port, path: nil, protocol: `protocol`, label: nil),
        account: account, group: nil, access: .patient, client: desktop.client, errorClosure: nil))
  }
}
