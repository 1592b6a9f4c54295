import Foundation
import SecurePropertyStorage

/// The shop program's secrets of a desktop user, in the keyring that a login unlocks.
struct Desk: Sendable {
  /// Sealed: other programs see an item, but neither its name nor its value.
  @Keychain("checkout-password") var password: String?

  /// Shared: the item that `secret-tool store service github.token account octocat` created.
  @SecureCredentials(label: "GitHub token", service: "github.token", account: "octocat")
  var token: String?

  /// Reads the password from the first line of standard input.
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

/// The error for missing input.
enum DeskError: Error, CustomStringConvertible {
  case noPassword

  var description: String { "there is no password on standard input" }
}
