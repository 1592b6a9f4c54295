import Foundation
import Observation
import SecurePropertyStorage

/// A service with thirty settings and ten secrets: `Relay COUNT` shows the settings, and shows them
/// again after each change, COUNT times in all.
@main
struct Relay {
  static func main() async {
    SecureStorage.bootstrap(applicationID: "org.example.relay", access: .mustExist)
    guard let count = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }), count > 0 else {
      end("usage: Relay COUNT", 64)
    }
    do {
      // Here, and not with the first message that can't be sent.
      try VaultStorage.standard.open(.mustExist)
      let missing = try Secrets().missing()
      guard missing.isEmpty else {
        end("missing: \(missing.joined(separator: ", ")); use securestore set", 78)
      }
    } catch {
      end("\(error.message)", error.code.exitCode)
    }
    let settings = Settings()
    var left = count
    for await summary in Observations({ settings.summary }) {
      // Written without buffering, so that a pipe gets it at once.
      FileHandle.standardOutput.write(Data((summary + "\n").utf8))
      left -= 1
      if left == 0 { break }
    }
  }

  private static func end(_ line: String, _ code: Int32) -> Never {
    FileHandle.standardError.write(Data("relay: \(line)\n".utf8))
    exit(code)
  }
}
