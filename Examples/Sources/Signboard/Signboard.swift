import Foundation
import Observation
import SecurePropertyStorage

/// The text of the sign in the shop's window, live from the vault of `org.example.shopfront`.
struct Sign: Sendable {
  @LiveVault("GREETING") var greeting = "Welcome"
  @LiveVault("OFFER") var offer: String?

  var text: String { offer.map { "\(greeting)! Today: \($0)" } ?? "\(greeting)!" }
}

/// Shows the sign, and shows it again after each change by another process: `Signboard COUNT`.
@main
struct Signboard {
  static func main() async {
    SecureStorage.bootstrap(applicationID: "org.example.shopfront")
    guard let count = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }), count > 0 else {
      FileHandle.standardError.write(Data("usage: Signboard COUNT\n".utf8))
      exit(64)
    }
    var left = count
    let sign = Sign()
    for await text in Observations({ sign.text }) {
      // Written without buffering, so that a pipe gets it at once.
      FileHandle.standardOutput.write(Data((text + "\n").utf8))
      left -= 1
      if left == 0 { break }
    }
  }
}
