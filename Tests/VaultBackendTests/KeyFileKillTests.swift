import Foundation
import TestSupport
import Testing

/// A process is killed at each step of its first start, which makes a key file and a vault.
@Suite(.enabled(if: Machine.hasStrace, "needs strace and the right to trace"))
struct KeyFileKillTests {
  private static let application = "com.example.killed"

  /// - Returns: what the program said.
  private func start(_ home: URL, prefix: [String] = []) throws -> [String] {
    try helper.start(
      ["standard", Self.application, "value"], prefix: prefix,
      environment: [
        "XDG_DATA_HOME": home.path, "STATE_DIRECTORY": nil, "CREDENTIALS_DIRECTORY": nil,
      ]
    ).lines()
  }

  private func links(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.referenceCount] as? Int
  }

  @Test func noSecondNameOfTheKeyFileAndNoStrayKeyAreLeft() throws {
    let root = TemporaryVault()
    var made = 0
    var home = root.file("home")
    let fault = SystemFault.kill(before: "write,fsync,link,linkat,unlink,unlinkat,rename,renameat")
    try fault.each { prefix in
      home = root.file(UUID().uuidString)
      return try start(home, prefix: prefix)
    } check: { run in
      let folder = home.appendingPathComponent(Self.application)
      let left = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      #expect(!left.contains { $0.hasSuffix(".new") }, "\(run): \(left.sorted())")
      let key = folder.appendingPathComponent("master.key")
      if left.contains("master.key") {
        made += 1
        #expect(try links(key.path) == 1)
        let text = try Array(Data(contentsOf: key))
        try #require(text.count == 45)
        for name in left where name != "master.key" {
          let bytes = try Array(Data(contentsOf: folder.appendingPathComponent(name)))
          #expect(!bytes.contains(Array(text[..<44])), "\(name) holds the key")
        }
      }
      #expect(try start(home).last == "sound", "\(run)")
    }
    #expect(made > Depth.count(2, day: 0), "the kills came too early for this to mean much")
  }
}
