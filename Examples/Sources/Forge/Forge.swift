import DefaultsBackend
import Glibc
import VaultBackend

/// A tool for a forge of code: it keeps a token for each host, and a few settings.
///
/// It imports VaultBackend and DefaultsBackend and not Foundation, so it stays small.
@main struct Forge {
  static func main() {
    SecureStorage.bootstrap(applicationID: "org.example.forge")
    do {
      print(try run(Array(CommandLine.arguments.dropFirst())) { readLine() })
    } catch {
      let line = "forge: \(words(for: error))\n"
      write(STDERR_FILENO, line, line.utf8.count)
      exit((error as? StorageError)?.code.exitCode ?? 64)
    }
  }

  /// Runs a command and returns what it prints; a token comes from standard input, since other users
  /// see the arguments of a process.
  static func run(_ arguments: [String], readToken: () -> String?) throws -> String {
    let hosts = Hosts()
    let preferences = Preferences()
    switch arguments.count {
    case 4 where arguments[...1] == ["auth", "login"]:
      guard let token = readToken(), !token.isEmpty else {
        throw Mistake("pass the token on standard input")
      }
      try hosts.signIn(Login(user: arguments[3], token: token), at: arguments[2])
      return "signed in at \(arguments[2]) as \(arguments[3])"
    case 3 where arguments[...1] == ["auth", "logout"]:
      guard try hosts.signOut(of: arguments[2]) else {
        throw Mistake("nobody is signed in at \(arguments[2])")
      }
      return "signed out of \(arguments[2])"
    case 2 where arguments == ["auth", "status"]:
      let logins = try hosts.all().sorted { $0.key < $1.key }
      guard !logins.isEmpty else { return "nobody is signed in" }
      return logins.map { "\($0): \($1.user), a token of \($1.token.count) characters" }
        .joined(separator: "\n")
    case 3 where arguments[0] == "clone":
      return try cloneCommand(of: arguments[2], at: arguments[1], hosts, preferences)
    case 4 where arguments[...1] == ["config", "set"]:
      try preferences.set(arguments[2], to: arguments[3])
      return "\(arguments[2]) is \(arguments[3])"
    case 2 where arguments == ["config", "list"]:
      return try Preferences.names.map { "\($0)=\(try preferences.text(of: $0) ?? "")" }
        .joined(separator: "\n")
    default:
      throw Mistake(
        "usage: forge auth login HOST USER <TOKEN | auth logout HOST | auth status"
          + " | clone HOST REPOSITORY | config set NAME VALUE | config list")
    }
  }

  /// What the tool would run; the token goes to git by its credential helper, not by the command.
  private static func cloneCommand(
    of repository: String, at host: String, _ hosts: Hosts, _ preferences: Preferences
  ) throws -> String {
    guard let login = try hosts.login(at: host) else {
      throw Mistake("sign in first: forge auth login \(host) USER")
    }
    return switch try preferences.$gitProtocol.load() {
    case .https: "git clone https://\(login.user)@\(host)/\(repository).git"
    case .ssh: "git clone git@\(host):\(repository).git"
    }
  }
}
