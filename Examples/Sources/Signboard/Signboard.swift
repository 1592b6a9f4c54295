import Foundation
import Observation
import SecurePropertyStorage

/// What the sign in the shop's window says, live from the vault of `org.example.shopfront`.
struct Sign: Sendable {
  @LiveVault("GREETING") var greeting = "Welcome"
  @LiveVault("OFFER") var offer: String?

  var text: String { offer.map { "\(greeting)! Today: \($0)" } ?? "\(greeting)!" }
}

/// Shows the sign, and shows it again whenever somebody changes what is on it: `Signboard COUNT`.
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
      // Written at once, also to a pipe.
      FileHandle.standardOutput.write(Data((text + "\n").utf8))
      left -= 1
      if left == 0 { break }
    }
  }
}
