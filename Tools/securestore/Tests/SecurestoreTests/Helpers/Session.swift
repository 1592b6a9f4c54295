import Foundation
import KeyringTesting
import Testing

@testable import KeyringBackend

/// A desktop session: a bus of its own, with the real gnome-keyring-daemon on it.
final class Session {
  let bus: PrivateBus
  let keyring: GnomeKeyring

  init(password: String = "password", hasDefaultCollection: Bool = true) throws {
    bus = try PrivateBus()
    keyring = try GnomeKeyring(
      on: bus, password: password, hasDefaultCollection: hasDefaultCollection)
  }

  /// The program in the session, without a display: nobody can be asked.
  func tool(hasVault: Bool = false) throws -> Tool {
    let tool = try Tool(hasVault: hasVault)
    tool.session = self
    tool.environment.merge(bus.environment) { $1 }
    return tool
  }

  /// The sealed store of an application in the session's keyring.
  func keychain(
    _ application: String, accessible: Accessibility = .whenUnlocked, keySource: KeySource? = nil
  ) -> KeychainStorage {
    let address = bus.address
    return KeychainStorage(
      accessGroup: nil, synchronizable: false, accessible: accessible, keySource: keySource,
      client: KeyringClient { () throws(StorageError) in address }
    ) { application }
  }
}

extension Tool {
  /// The key in the keyring, as its user's other programs see it.
  func keyInKeyring(_ name: String = "com.example.tool") throws -> String {
    try shell("secret-tool lookup xdg:schema SecurePropertyStorage.Key name \(name)").text
  }

  /// What doctor says: the state of each subject, and its code behind it where it has one.
  func doctor(_ arguments: String...) throws -> [String: String] {
    let result = try run(["doctor", "--json"] + arguments)
    let findings = try #require(try result.json()["findings"] as? [[String: Any]])
    return Dictionary(
      findings.map { finding in
        let words = ["state", "code"].compactMap { finding[$0] as? String }
        return (finding["subject"] as? String ?? "", words.joined(separator: " "))
      }, uniquingKeysWith: { first, _ in first })
  }
}
