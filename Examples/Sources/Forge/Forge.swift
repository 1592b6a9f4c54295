import Foundation
import SecurePropertyStorage

/// A client of a code forge that keeps a token for each host, as `gh` and `glab` do.
@main
struct Forge {
  static let usage = """
    usage: forge login HOST --user NAME   with the token on standard input
           forge status                   who is logged in where
           forge token HOST               the token, for another program
           forge logout HOST
    """

  /// What the user did wrong, in one line.
  struct Mistake: Error { var line: String }

  static func main() {
    SecureStorage.bootstrap(applicationID: "org.example.forge")
    do {
      try run(Array(CommandLine.arguments.dropFirst()), input: readLine)
    } catch let error as StorageError {
      complain(message(for: error))
      exit(error.code.exitCode)
    } catch let mistake as Mistake {
      complain(mistake.line)
      exit(64)
    } catch {
      complain("\(error)")
      exit(70)
    }
  }

  /// Does what the arguments say; `input` gives the next line of standard input.
  static func run(_ arguments: [String], input: (Bool) -> String?) throws {
    let accounts = Accounts()
    switch arguments.first {
    case "login" where arguments.count == 4 && arguments[2] == "--user":
      // A token from a pipe: an argument could be read by every user of the machine.
      guard let token = input(true), !token.isEmpty else {
        throw Mistake(
          line: "give the token on standard input, as in forge login HOST --user NAME <token.txt")
      }
      try accounts.logIn(arguments[1], Account(user: arguments[3]), token: token)
      print("logged in to \(arguments[1]) as \(arguments[3])")
    case "status" where arguments.count == 1:
      let all = try accounts.all()
      if all.isEmpty { print("not logged in; use forge login") }
      for (host, account) in all { print("\(host): \(account.user)") }
    case "token" where arguments.count == 2:
      guard let token = try accounts.token(arguments[1]) else {
        throw Mistake(line: "not logged in to \(arguments[1])")
      }
      print(token)
    case "logout" where arguments.count == 2:
      let isDone = try accounts.logOut(arguments[1])
      print(isDone ? "logged out of \(arguments[1])" : "was not logged in to \(arguments[1])")
    default: throw Mistake(line: usage)
    }
  }

  /// What the user of this program can do about an error, in the words of this program.
  static func message(for error: StorageError) -> String {
    switch error.code {
    case .keyUnavailable, .wrongKey, .damaged:
      "the saved logins can't be opened: \(error.message)"
    case .typeMismatch: "the saved logins are of another version of forge: \(error.message)"
    case .busy, .timedOut: "another forge is still writing; try again"
    default: error.message
    }
  }

  private static func complain(_ line: String) {
    FileHandle.standardError.write(Data("forge: \(line)\n".utf8))
  }

  private static func readLine(_ isSecret: Bool) -> String? { Swift.readLine() }
}
