import Foundation
import Testing

@testable import securestore

/// The manual page says what the program does.
struct ManualTests {
  private static let page: String = {
    let package = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let path = package.appendingPathComponent("securestore.1").path
    do { return try String(contentsOfFile: path, encoding: .utf8) } catch { return "" }
  }()

  /// The page as it is read, without the marks of roff.
  private static let text = page.replacingOccurrences(of: "\\-", with: "-")
    .replacingOccurrences(of: "\\f[BIRP]", with: "", options: .regularExpression)

  @Test func itsTableOfExitCodesIsThatOfTheProgram() throws {
    let section = try #require(
      Self.page.components(separatedBy: ".SH EXIT STATUS\n").dropFirst().first)
    let codes = section.components(separatedBy: "\n.SH ")[0].split(separator: "\n").compactMap {
      $0.hasPrefix(".IP ") ? Int32($0.dropFirst(4).prefix { $0 != " " }) : nil
    }
    #expect(codes == ExitStatus.allCases.map(\.rawValue))
  }

  @Test func everyCommandAndOptionIsInIt() throws {
    let tool = try Tool(hasVault: false)
    let dump = try tool.run("--experimental-dump-help").json()
    let root = try #require(dump["command"] as? [String: Any])
    for command in root["subcommands"] as? [[String: Any]] ?? [] { try check(command, below: "") }
  }

  private func check(_ command: [String: Any], below group: String) throws {
    let name = group + (try #require(command["commandName"] as? String))
    guard name != "help" else { return }
    let subcommands = command["subcommands"] as? [[String: Any]] ?? []
    if subcommands.isEmpty {
      let entry = #"\n(\\fB|\.B[IR]? "?)\#(name)\b"#
      #expect(Self.page.range(of: entry, options: .regularExpression) != nil, "\(name)")
    }
    for argument in command["arguments"] as? [[String: Any]] ?? [] {
      for spelling in argument["names"] as? [[String: Any]] ?? []
      where spelling["kind"] as? String == "long" {
        let option = "--" + (spelling["name"] as? String ?? "")
        let place = Self.text.range(of: option + "(?![a-z-])", options: .regularExpression)
        #expect(place != nil, "\(name) \(option)")
      }
    }
    for subcommand in subcommands { try check(subcommand, below: name + " ") }
  }

  @Test func copyingWithoutBackupIsWarnedOf() {
    #expect(Self.text.contains("-wal"))
    #expect(Self.text.contains("slots change --recovery"))
  }

  @Test func itRendersWithoutAWarning() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["groff", "-man", "-ww", "-z"]
    let (input, errors) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardError = errors
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data(Self.page.utf8))
    try input.fileHandleForWriting.close()
    let said = try errors.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(String(decoding: said, as: UTF8.self) == "")
  }
}
