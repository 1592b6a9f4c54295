import Foundation
import SecurePropertyStorage

/// What the shop's program keeps for a person at a desktop, in the keyring that a login unlocks.
struct Desk: Sendable {
  /// Sealed: other programs see that there is something, and neither its name nor its value.
  @Keychain("checkout-password") var password: String?

  /// Shared: the item that `secret-tool store service github.token account octocat` made.
  @SecureCredentials(label: "GitHub token", service: "github.token", account: "octocat")
  var token: String?

  /// Takes the password from the first line of standard input.
  func login() throws {
    guard let line = readLine(), !line.isEmpty else { throw DeskError.noPassword }
    try $password.save(line)
    print("  kept a password of \(line.count) characters (process \(getpid()))")
  }

  func show() throws {
    print("  checkout password  \(Self.shown(try $password.load()))")
    print("  GitHub token       \(Self.shown(try $token.load()))")
  }

  private static func shown(_ secret: String?) -> String {
    secret.map { "(\($0.count) characters, not shown)" } ?? "not set"
  }
}

/// What the person did not give.
enum DeskError: Error, CustomStringConvertible {
  case noPassword

  var description: String { "there is no password on standard input" }
}
