import Foundation
import StorageCore
import TestSupport
import Testing
import VaultBackend

/// Settings that an operator types as text, and names that are mistyped.
struct SettingsTests {
  private enum Mode: String, Codable { case fast, slow }

  private func vault(_ tool: Tool) -> VaultStorage {
    VaultStorage(
      at: URL(fileURLWithPath: tool.vault),
      keySource: .file(URL(fileURLWithPath: tool.keyFile)))
  }

  @Test func textOfAFileIsReadByPropertiesOfEachType() throws {
    let tool = try Tool()
    let file = "http.port=9000\nhttp.timeout=1.5\ndebug=yes\nmode=slow\nurl=https://a.example/\n"
    let imported = try tool.run("import", "-", input: file)
    #expect(imported.code == 0)
    #expect(imported.errors.contains("imported 5 values: 5 as text\n"), "\(imported.errors)")
    let storage = vault(tool)
    @LiveVault(storage, "http.port") var port = 8080
    @Vault(storage, "http.timeout") var timeout: Double?
    @UnwrappedVault(storage, "debug") var isDebugging = false
    @UnwrappedCodableVault(storage, "mode") var mode = Mode.fast
    @Vault(storage, "url") var url: URL?
    #expect(port == 9000 && timeout == 1.5 && isDebugging && mode == .slow)
    #expect(url?.host() == "a.example")
    try $port.update { $0 += 1 }
    #expect(try tool.run("get", "http.port", "--type").text == "Int (8 bytes)\n")
    // From then on the tool writes the program's type.
    #expect(try tool.run("set", "http.port", input: "9100").code == 0)
    for _ in 0..<10_000 where port != 9100 { usleep(1_000) }
    #expect(port == 9100)
    #expect(try tool.run("set", "http.port", input: "ninety").code == 13)
  }

  // MARK: - Other names and random values
}
