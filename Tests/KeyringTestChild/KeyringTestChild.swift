import Foundation
import KeyringTesting

/// Starts a bus and a daemon, says where and who they are, and waits to be killed.
@main
struct KeyringTestChild {
  static func main() throws {
    let bus = try PrivateBus()
    let keyring = try GnomeKeyring(on: bus)
    print(bus.address)
    let own = "\(ProcessInfo.processInfo.processIdentifier)"
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
      // proc_pid_stat(5): name in parentheses, state, parent.
      let stat = (try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8)) ?? ""
      let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
      if fields.count > 1, fields[1] == own { print(name) }
    }
    fflush(nil)
    _ = readLine()
    withExtendedLifetime(keyring) {}
  }
}
