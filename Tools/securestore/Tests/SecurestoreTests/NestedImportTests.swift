import Foundation
import StorageCore
import Testing
import VaultBackend

/// Configuration files with values in values, as SecureConfiguration reads them.
struct NestedImportTests {
  private static let yaml = """
    # As an operator writes it.
    database:
      host: db.example.com
      port: 5432
      tls: true
      timeout: 1.5
      replicas: [a, b]
      limits: {daily: [1, 2], share: [0.5, 1]}
    password: "12345"
    since: 2026-01-01
    """
  private static let json = """
    {"database": {"host": "db.example.com", "port": 5432, "tls": true, "timeout": 1.5,
      "replicas": ["a", "b"], "limits": {"daily": [1, 2], "share": [0.5, 1]}},
     "password": "12345", "since": "2026-01-01"}
    """

  @Test(arguments: [("yaml", yaml), ("json", json)])
  func eachValueGetsANameOfItsOwn(_ format: String, _ text: String) throws {
    let tool = try Tool()
    let file = tool.folder.appendingPathComponent("settings.\(format)")
    try Data(text.utf8).write(to: file)
    let imported = try tool.run("import", file.path, "--nested")
    #expect(imported.code == 0, "\(imported.errors)")
    let storage = VaultStorage(
      at: URL(fileURLWithPath: tool.vault), keySource: .file(URL(fileURLWithPath: tool.keyFile)))
    #expect(try storage.load(String.self, forKey: "database.host") == "db.example.com")
    #expect(try storage.load(Int.self, forKey: "database.port") == 5432)
    #expect(try storage.load(Bool.self, forKey: "database.tls") == true)
    #expect(try storage.load(Double.self, forKey: "database.timeout") == 1.5)
    #expect(try storage.load([String].self, forKey: "database.replicas") == ["a", "b"])
    #expect(try storage.load([Int].self, forKey: "database.limits.daily") == [1, 2])
    #expect(try storage.load([Double].self, forKey: "database.limits.share") == [0.5, 1])
    #expect(try storage.load(String.self, forKey: "password") == "12345")
    #expect(try storage.load(String.self, forKey: "since") == "2026-01-01")
    #expect(try storage.keys().count == 9)
  }

  @Test func withoutTheOptionAnObjectIsOneValue() throws {
    let tool = try Tool()
    #expect(try tool.run("import", "-", "--format", "yaml", input: Self.yaml).code == 0)
    #expect(try tool.run("get", "database").text.contains("db.example.com"))
  }

  @Test(arguments: [
    ("a: 1\na: 2\n", "twice"), ("a: [1\n", "line 3"), ("a: 0o17\n", "line 2"),
    ("a: !!binary aGk=\n", "line 2"), ("? [1, 2]\n: 3\n", "name"), ("- 1\n", "YAML"),
    ("a: null\n", "null"), ("a:\n  b: 1\na.b: 2\n", "a.b"),
    ("a: *nowhere\n", "YAML"),
  ])
  func whatCannotBeKeptIsRefusedWhole(_ text: String, _ said: String) throws {
    let tool = try Tool()
    let result = try tool.run(
      "import", "-", "--format", "yaml", "--nested", input: "ok: 1\n" + text)
    #expect(result.code == 65 && result.errors.contains(said), "\(result.errors)")
    #expect(try tool.run("list").text == "")
  }

  @Test func aliasesThatStandForBillionsAreRefused() throws {
    let tool = try Tool()
    var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in 1...9 {
      let alias = "*a\(level - 1)"
      text +=
        "a\(level): &a\(level) [\(Array(repeating: alias, count: 10).joined(separator: ", "))]\n"
    }
    let result = try tool.run("import", "-", "--format", "yaml", input: text)
    #expect(result.code == 65, "\(result.errors)")
  }
}
