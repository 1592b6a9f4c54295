import DefaultsBackend
import Foundation
import StorageCore
import Testing

/// The commands for values on a suite of sealed UserDefaults.
struct SuiteTests {
  private let tool: Tool
  private var path: String { tool.path(".config/com.example.tool.secure.plist") }

  /// A program's storage of the suite, in the tool's home.
  private var storage: UserDefaultsStorage {
    UserDefaultsStorage(
      at: URL(fileURLWithPath: path), keySource: .file(URL(fileURLWithPath: tool.keyFile)))
  }

  init() throws {
    tool = try Tool()
    try FileManager.default.createDirectory(
      atPath: tool.path(".config"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try storage.save(8080, forKey: "http.port")
    try storage.save("dark", forKey: "theme")
  }

  private func run(_ arguments: String..., input: String = "") throws -> Tool.Result {
    try tool.run(arguments + ["--suite", "com.example.tool"], input: Data(input.utf8))
  }

  @Test func valuesAreListedReadSetRenamedAndRemoved() throws {
    #expect(try run("list").lines == ["http.port", "theme"])
    #expect(try run("list", "--match", "http.*", "--long").text.contains("Int"))
    #expect(try run("get", "http.port").text == "8080")
    #expect(try run("set", "http.port", input: "9000").errors.contains("as Int"))
    #expect(try storage.load(Int.self, forKey: "http.port") == 9000)
    #expect(try run("set", "http.port", input: "ninety").code == 13)
    #expect(try run("rename", "theme", "colors").code == 0)
    #expect(try run("get", "them").code == 1)
    #expect(try run("get", "colrs").errors.contains("did you mean colors?"))
    #expect(try run("generate", "id").code == 0)
    #expect(try run("import", "-", input: "a=1\n").code == 0)
    #expect(try run("export", "--stdout").text.contains("a=1"))
    #expect(try run("remove", "colors", "id", "a").code == 0)
    #expect(try storage.keys() == ["http.port"])
    #expect(try tool.run("list").text == "", "the vault has none of this")
  }

  /// With the key gone, the suite keeps the application from getting a new one until it is discarded.
  @Test func aSuiteWhoseKeyIsLostIsDiscardedAndTheApplicationStartsAnew() throws {
    try FileManager.default.removeItem(atPath: tool.keyFile)
    #expect(try run("get", "theme").code == 10)
    #expect(try tool.run("reset", "--yes").code == 0)
    #expect(try tool.run("init").code == 10)
    let named = try run("reset", "--yes", "--key-file", tool.keyFile)
    #expect(named.code == 64)
    #expect(FileManager.default.fileExists(atPath: path))
    let done = try run("reset", "--yes", "--json")
    #expect(try done.json()["path"] as? String == path)
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(try run("reset", "--yes").code == 69)
    #expect(try tool.run("init").code == 0)
    #expect(try storage.load(String.self, forKey: "theme") == nil)
  }

  /// Settings that are changed in another terminal are seen by a program that runs.
  @Test func aLivePropertySeesTheChange() throws {
    let storage = storage
    @LiveUserDefault(storage, "http.port", validate: { $0 > 0 }) var port = 1
    #expect(port == 8080)
    #expect(try run("set", "http.port", input: "9000").code == 0)
    for _ in 0..<10_000 where port != 9000 { usleep(1_000) }
    #expect(port == 9000)
    #expect(try run("set", "http.port", input: "-1").code == 0)
    #expect(try run("set", "http.port", input: "9001").code == 0)
    for _ in 0..<10_000 where port != 9001 { usleep(1_000) }
    #expect(port == 9001)
  }

  @Test func aSuiteIsNamedByItsPathAndOpenedByAKeyOption() throws {
    tool.environment["SECURESTORE_APP"] = nil
    let named = try tool.run("get", "theme", "--suite", path, "--key-file", tool.keyFile)
    #expect(named.text == "dark", "\(named.errors)")
    tool.environment["SECURESTORE_KEY_FILE"] = tool.keyFile
    #expect(try tool.run("get", "theme", "--suite", path).text == "dark")
    tool.environment["SECURESTORE_KEY_FILE"] = nil
    #expect(try tool.run("get", "theme", "--suite", path).code == 64)
    #expect(try tool.run("get", "theme", "--suite", path, "--vault", tool.vault).code == 64)
    try tool.write(Data(repeating: 1, count: 32).base64EncodedString(), to: "master.key")
    let wrong = try tool.run("get", "theme", "--suite", path, "--key-file", "master.key")
    #expect(wrong.code == 11, "\(wrong.errors)")
    #expect(
      try tool.run("get", "theme", "--suite", tool.vault, "--key-file", tool.keyFile).code == 64)
  }

  @Test func aMissingSuiteIsAnErrorAndNothingIsMade() throws {
    for suite in ["com.example.none", tool.path("none/x.secure.plist"), tool.path("x.plist")] {
      for command in ["list", "get", "set"] {
        let arguments = command == "list" ? [command] : [command, "name"]
        let result = try tool.run(arguments + ["--suite", suite], input: Data("x".utf8))
        #expect(result.code == 69, "\(suite) \(command) \(result.errors)")
      }
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: tool.path(".config")).allSatisfy {
        $0.contains("com.example.tool")
      })
  }
}
