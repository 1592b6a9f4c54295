import TestSupport
import Testing

/// What the compiler says of code that was written for another package's type `Keychain`.
@Suite struct KeychainWordsTests {
  private static let common = "import Foundation\nimport KeyringBackend\n"

  private static let keyring = "write Keyring(service:)"
  private static let shared = "write Keyring.default"

  private static let mistakes = [
    ("let k = Keychain()", keyring),
    ("let k = Keychain(service: \"com.example\")", keyring),
    ("let k = Keychain(service: \"x\", group: \"y\", accessibility: .afterFirstUnlock)", keyring),
    ("let k = Keychain(authentication: .biometryAny, isSynchronizable: true)", keyring),
    ("let k = Keychain.default", shared),
    ("func f() throws { try Keychain.default.container(for: \"a\").store(\"b\") }", shared),
    ("func f() { Keychain.default = Keyring(service: \"x\") }", shared),
    (
      "func f() throws { try Keychain.update([1], using: [\"service\": \"x\"]) }",
      "write Keyring.update("
    ),
    (
      "func f() throws { _ = try Keychain.read([\"service\": \"x\"], options: [1]) }",
      "write Keyring.read("
    ),
    ("func f() throws { try Keychain.delete([\"service\": \"x\"]) }", "write Keyring.delete("),
    (
      "func f() throws { _ = try Keychain.search(for: [1], with: [1]) }", "write Keyring.search("
    ),
    ("func f() throws { try Keychain.modify([1], for: [1]) }", "write Keyring.modify("),
    ("func f() throws { try Keychain.remove([1]) }", "write Keyring.remove("),
    ("let query: KeychainQuery = [:]", "write [String: String]"),
    ("let attributes: KeychainAttributes = []", "renamed to 'KeyringAttributes'"),
    ("let options: KeychainOptions = []", "renamed to 'KeyringOptions'"),
    ("func f(_ item: KeychainItem) {}", "renamed to 'KeyringItem'"),
    ("func f(_ query: some KeychainQueryable) {}", "renamed to 'KeyringQueryable'"),
    ("func f(_ attribute: KeychainAttribute) {}", "renamed to 'KeyringAttribute'"),
    ("func f(_ option: KeychainOption) {}", "renamed to 'KeyringOption'"),
  ]

  /// What the guide says to write instead.
  private static let accepted = """
    struct Settings {
      @Keychain("password") var password: String?
      @Keychain("attempts") var attempts: Int?
      @UnwrappedKeychain("count") var count = 0
    }
    struct Query: KeyringQueryable {
      var attributes: KeyringAttributes { [.service("github.token")] }
    }
    func f(_ data: Data) throws {
      Keyring.default = Keyring(service: "com.example")
      let keyring = try Keyring(accessibility: .afterFirstUnlock)
      try keyring.container(for: "alice").store("secret")
      let container = Keyring.default.container(for: "alice")
      _ = try container.fetch(String.self)
      let attempts: Int? = try container.fetch()
      try container.copy(to: Keyring(service: "other").container(for: "alice"))
      try container.empty()
      _ = (attempts, try Keyring.default.keys(), try Query().item?.password)
      try Query().update(.account("me"))
      try Query().delete()
      _ = try Keyring.search(for: [.service("x"), .label("y")], with: .matchAll)
      try Keyring.update([.account("me"), .data(data)], using: ["service": "x"])
      _ = try Keyring.read(["service": "x"])?.account
      try Keyring.delete(["service": "x"])
    }
    """

  private func said(of source: String, _ flags: [String] = []) throws -> [String] {
    try Compiler.check(
      Self.common + source + "\n", flags, cModules: ["COpenSSL", "CLibsecret", "CGlibc"])
  }

  @Test func codeForAnotherKeychainIsRefusedInWordsThatLead() throws {
    let cases = Self.mistakes.enumerated().map { "enum Case\($0) { static \($1.0) }" }
    let errors = try said(of: cases.joined(separator: "\n")).filter { $0.contains(" error: ") }
    for (index, (source, advice)) in Self.mistakes.enumerated() {
      let own = errors.filter { $0.contains("source.swift:\(index + 3):") }
      #expect(!own.isEmpty && own.allSatisfy { $0.contains(advice) }, "\(source): \(own)")
    }
  }

  @Test func whatTheWordsLeadToIsAccepted() throws {
    let said = try said(of: Self.accepted, ["-warnings-as-errors"])
    #expect(said.isEmpty, "\(said.joined(separator: "\n"))")
  }
}
