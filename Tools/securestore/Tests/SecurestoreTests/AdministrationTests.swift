import DefaultsBackend
import Foundation
import StorageCore
import Testing

/// What is done to whole vaults.
struct AdministrationTests {
  @Test func aSuiteOfUserDefaultsIsMovedIn() throws {
    let tool = try Tool()
    let variables = ProcessInfo.processInfo.environment
    // Only where that is not the user's own folder: scripts/private-env.sh.
    try #require(variables["SPS_PRIVATE_ENVIRONMENT"] == "1")
    tool.environment["XDG_CONFIG_HOME"] = variables["XDG_CONFIG_HOME"]
    let name = "com.example.suite.\(UUID().uuidString)"
    let suite = UserDefaultsStorage(
      suiteName: name, keySource: .file(URL(fileURLWithPath: tool.keyFile)))
    try suite.save("x", forKey: "A")
    try suite.save(7, forKey: "B")
    let moved = try tool.run("migrate", "--from-suite", name, "--json")
    #expect(moved.code == 0, "\(moved.errors)")
    #expect(try moved.json()["removed"] as? Int == 2)
    #expect(try tool.run("get", "B").text == "7")
    #expect(try suite.keys().isEmpty)
  }
}
