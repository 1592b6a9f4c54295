import Foundation
import StorageCore
import StorageTesting
import Testing
import VaultBackend

/// What `export` writes `import` reads as the same store, whatever the names and texts are.
struct AnyNameTests {
  /// Some of each script and kind that a format may stumble over.
  private static let pieces: [String] = [
    "a", "Z", "0", " ", "\t", "\n", "\r", "\u{0}", "\u{7}", "\u{1B}", "\u{7F}", "\u{85}", "\u{A0}",
    "\u{2028}", "\u{2029}", "\u{202E}", "\u{FEFF}", "\u{FFFD}", "\u{FFFF}", "\u{E000}", "\u{F0000}",
    "\u{10FFFF}", "é", "e\u{301}", "\u{301}", "\u{1100}\u{1161}", "가", "ﬁ", "K", "K", "日本",
    "\u{1F469}\u{200D}\u{1F4BB}", "ש", "ع", "क्षि", "\"", "'", "\\", "\\ue001", "\\u0301", "#", ":",
    ": ", "- ", "<<", "*a", "&a", "!", "%YAML", "---", "{", "[", "$type", "$value", "${HOME}",
    "=", "~", "null", "yes", "1e3", "0x1F", "\u{1}",
  ]

  private struct Random: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }

  private static func text(_ random: inout Random, _ most: Int) -> String {
    (0..<Int.random(in: 1...most, using: &random))
      .map { _ in pieces.randomElement(using: &random)! }.joined()
  }

  private static func expect(_ result: Tool.Result, _ what: String) {
    #expect(result.code == 0, "\(what): \(result.errors)")
  }

  private static func contents(_ tool: Tool, _ name: String) throws -> [[UInt8]: AnyStorableValue] {
    let storage = VaultStorage(
      at: URL(fileURLWithPath: tool.path(name + ".vault")),
      keySource: .file(URL(fileURLWithPath: tool.path(name + ".key"))))
    var values: [[UInt8]: AnyStorableValue] = [:]
    for key in try storage.keys() {
      values[Array(key.utf8)] = try storage.load(AnyStorableValue.self, forKey: StoreKey(key))
    }
    return values
  }

  @Test func anyNamesAndTextsComeBackThroughJSONAndYAML() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = Random(state: seed)
    let tool = try Tool(hasVault: false)
    func options(_ name: String) -> [String] {
      ["--vault", name + ".vault", "--key-file", name + ".key"]
    }
    for name in ["one", "json", "yaml"] {
      Self.expect(try tool.run(["init"] + options(name)), name)
    }
    let storage = VaultStorage(
      at: URL(fileURLWithPath: tool.path("one.vault")),
      keySource: .file(URL(fileURLWithPath: tool.path("one.key"))))
    var values: [(StoreKey, Any?)] = [
      ("é", "one"), ("e\u{301}", "two"), ("\u{1100}\u{1161}", 1), ("가", 2),
    ]
    for index in 0..<200 {
      let value: any Sendable =
        switch index % 6 {
        case 0: Int.random(in: .min ... .max, using: &random)
        case 1: Double(bitPattern: random.next())
        case 2: Data(Self.text(&random, 6).utf8)
        case 3: Date(timeIntervalSince1970: Double.random(in: -1e10...1e10, using: &random))
        case 4: [Self.text(&random, 3), Self.text(&random, 3)]
        default: Self.text(&random, 8)
        }
      values.append((StoreKey(Self.text(&random, 5)), value))
    }
    for (key, value) in values { try storage.saveAll([key: value]) }
    let expected = try Self.contents(tool, "one")
    Self.expect(try tool.run(["export", "--to", "out.json"] + options("one")), "export")
    try FileManager.default.copyItem(atPath: tool.path("out.json"), toPath: tool.path("out.yaml"))
    for format in ["json", "yaml"] {
      Self.expect(
        try tool.run(["import", "out.\(format)"] + options(format)), "\(format), seed \(seed)")
      let found = try Self.contents(tool, format)
      #expect(Set(found.keys) == Set(expected.keys), "\(format), seed \(seed)")
      for (name, value) in expected {
        #expect(found[name] == value, "\(format), seed \(seed): \(name)")
      }
    }
  }

  @Test func whatDotenvCanSayComesBackAndTheRestIsRefusedByName() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = Random(state: seed)
    let tool = try Tool(hasVault: false)
    for name in ["one", "two"] {
      Self.expect(
        try tool.run("init", "--vault", name + ".vault", "--key-file", name + ".key"), name)
    }
    let one = ["--vault", "one.vault", "--key-file", "one.key"]
    var refused = 0
    for index in 0..<15 {
      let name = "N\(index)"
      let text = Self.text(&random, 8)
      Self.expect(
        try tool.run(["set", name, "--raw"] + one, input: Data(text.utf8)), "set, seed \(seed)")
      let written = try tool.run(["export", "--format", "dotenv", "--to", "\(name).env"] + one)
      guard written.code == 0 else {
        refused += 1
        #expect(written.errors.contains(name), "seed \(seed): \(written.errors)")
        #expect(!FileManager.default.fileExists(atPath: tool.path("\(name).env")))
        Self.expect(try tool.run(["remove", name] + one), "remove")
        continue
      }
      Self.expect(
        try tool.run("import", "\(name).env", "--vault", "two.vault", "--key-file", "two.key"),
        "seed \(seed): \(Array(text.utf8))")
      let read = try tool.run("get", name, "--vault", "two.vault", "--key-file", "two.key")
      #expect(read.output == Data(text.utf8), "seed \(seed): \(Array(text.utf8))")
      Self.expect(try tool.run(["remove", name] + one), "remove")
    }
    #expect(refused < 15)
  }
}
