// The platforms differ in what comes first. The model below is the same for all of them.

#if os(Linux)
  import SecurePropertyStorage

  /// A server has no Keychain: a secret is in the vault.
  package typealias Secret<Value> = Vault<Value>

  /// The actor of the model. The storages here need none.
  @globalActor package actor ModelActor {
    package static let shared = ModelActor()
  }
#else
  import Keychain
  import Storage
  import UserDefault

  package typealias Secret<Value> = Keychain<Value>

  /// The actor of the model: the one that the storages of the Apple package belong to.
  package typealias ModelActor = StorageActor
#endif

/// Who is signed in.
package struct Account: Codable, Equatable, Sendable {
  package var name: String
  package var plan: String

  package init(name: String, plan: String) {
    self.name = name
    self.plan = plan
  }
}

/// The session of one user, stored sealed on every platform.
@ModelActor package final class Session {
  @Secret("refresh-token") package var refreshToken: String?
  @CodableUserDefault("account") package var account: Account?
  @UnwrappedUserDefault("launches") package private(set) var launches = 0

  package init() {}

  /// Counts a start of the program.
  package func launch() { launches += 1 }

  package func signIn(_ account: Account, token: String) {
    refreshToken = token
    self.account = account
  }

  package func signOut() {
    refreshToken = nil
    account = nil
  }

  /// What a person is told about the session.
  package var summary: String {
    guard let account, refreshToken != nil else { return "signed out, started \(launches) times" }
    return "\(account.name), plan \(account.plan), started \(launches) times"
  }
}
