import Foundation
import TestSupport
import Testing

@testable import KeyringBackend

/// No way of showing a value of the API shows a secret.
@Suite struct SecrecyTests {
  private static let marker = "Zx81:qQ7wVkJ0"

  private func expectSecret(_ value: Any, _ what: String) {
    #expect(Disclosure.forms(of: Array(Self.marker.utf8), in: value).isEmpty, "\(what)")
  }

  @Test(.ownDaemon) func nothingThatIsShownHoldsTheSecret() async throws {
    let desktop = try Desktop()
    let marker = Self.marker
    let keyring = desktop.keyring(
      "service", authentication: .devicePasscode, passcode: marker)
    let container = keyring.container(for: "account")
    try container.store(marker)
    let plain = desktop.keyring("plain").container(for: "account")
    try plain.store(marker)
    let credential = Credential<String>.service("plain", account: "account", on: desktop)
    let item = try #require(try credential.item)
    #expect(item.password == marker)
    let item2 = Credential<[String]>.item("list", on: desktop)
    try item2.save([marker])
    let changes = KeyringChanges(client: desktop.client) { _ in true }
    let values = credential.values
    var iterator = values.makeAsyncIterator()
    #expect(await iterator.next() == marker)
    let attributes: KeyringAttributes = [.password(marker), .service("plain")]
    let shown: [(Any, String)] = [
      (keyring, "keyring"), (container, "container"), (plain, "plain container"),
      (credential, "credential"), (credential.state, "state"), (item, "item"),
      (SecureCredentials(credential), "SecureCredentials"),
      (InternetCredentials(credential), "InternetCredentials"), (SecureItem(item2), "SecureItem"),
      (KeyringAttribute.password(marker), "password"),
      (KeyringAttribute.data(Data(marker.utf8)), "data"), (attributes, "attributes"),
      (changes, "changes"), (changes.makeAsyncIterator(), "iterator"), (values, "values"),
      (iterator, "values' iterator"), (Keyring.Authentication.devicePasscode, "authentication"),
      (KeyringOptions.matchAll, "options"), ([item], "items"), (try PlainSecret(marker), "secret"),
    ]
    for (value, what) in shown { expectSecret(value, what) }
    // That the search finds what is there.
    #expect(!Disclosure.forms(of: Array(marker.utf8), in: [marker]).isEmpty)
  }

  @Test(.ownDaemon) func noErrorHoldsTheSecret() throws {
    let desktop = try Desktop()
    let plain = desktop.keyring("plain").container(for: "account")
    try plain.store(Self.marker)
    struct Part: Codable { var secret: Int }
    struct Refusing: Codable {
      init() {}
      init(from decoder: any Decoder) throws {}
      func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(
          SecrecyTests.marker, .init(codingPath: [], debugDescription: SecrecyTests.marker))
      }
    }
    func errors(_ bodies: (() throws -> Void)...) -> [any Error] {
      bodies.compactMap { body in
        do {
          try body()
          Issue.record("it did not fail")
          return nil
        } catch { return error }
      }
    }
    let sealed = desktop.keyring(
      "plain", authentication: .devicePasscode, passcode: Self.marker
    ).container(for: "account")
    let shown = errors(
      { _ = try plain.fetch(Int.self) }, { _ = try plain.fetch(Bool.self) },
      { _ = try plain.fetch(Double.self) }, { _ = try plain.fetch([Part].self) },
      {
        try plain.store(Part(secret: 1))
        try plain.store(["secret": Self.marker])
        _ = try plain.fetch(Part.self)
      },
      { try plain.store(Refusing()) }, { _ = try sealed.fetch(String.self) },
      { try plain.store(String?.some(Self.marker)) },
      { _ = try ItemQueries(client: desktop.client).search([.password(Self.marker)], []) })
    #expect(shown.count == 9)
    for error in shown { expectSecret(error, "\(type(of: error))") }
  }
}
