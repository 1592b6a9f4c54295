import Foundation
import StorageCore
import TestSupport
import Testing
import VaultBackend

@testable import securestore

/// What `export` writes of any store, `import` reads as the same store, in each format that can say
/// it.
struct FormatIdentityTests {
  private typealias Named = (name: String, sample: Sample)

  private static let pairs = [
    ("é", "e\u{301}"), ("Å", "\u{212B}"), ("각", "\u{1100}\u{1161}\u{11A8}"),
    ("ϓ", "\u{3D2}\u{301}"), ("が", "か\u{3099}"), ("\u{1112D}\u{11127}x", "\u{1112D}\u{11127}y"),
  ]

  /// Values of all kinds under names of all scripts, among them names that differ only in the
  /// encoding of an accent.
  private static func values(_ random: inout RandomValues) -> [Named] {
    var values: [Named] = []
    var known: Set<[UInt8]> = []
    func add(_ name: String, _ sample: Sample) {
      guard (1...1_024).contains(name.utf8.count), known.insert(Array(name.utf8)).inserted else {
        return
      }
      values.append((name, sample))
    }
    let pair = pairs.randomElement(using: &random.generator)!
    let around = random.text(upTo: 20)
    for half in [pair.0, pair.1] { add(around + half + around, random.sample()) }
    for name in ["$type", "$value", "<<", "=", "null", "~", "-", "? x", "a: b", "#", "1", "*a"] {
      if random.isLucky(oneIn: 3) { add(name, random.sample()) }
    }
    for _ in 0..<20 { add(random.text(upTo: random.isLucky(oneIn: 8) ? 900 : 20), random.sample()) }
    for _ in 0..<15 { add(random.variable(), random.sample()) }
    return values.shuffled(using: &random.generator)
  }

  private static func storage(_ tool: Tool, _ vault: String) -> VaultStorage {
    VaultStorage(
      at: URL(fileURLWithPath: tool.path(vault)),
      keySource: .file(URL(fileURLWithPath: tool.keyFile)))
  }

  /// A new vault that the tool has imported a file into; nil if it refused the file, and may do so.
  private static func importing(
    _ file: String, _ format: String, _ tool: Tool, mayRefuse: Bool = false
  ) throws -> VaultStorage? {
    let vault = "\(UUID().uuidString).vault"
    let options = ["--vault", vault, "--key-file", tool.keyFile]
    let made = try tool.run(["init"] + options)
    try #require(made.code == 0, "\(made.errors)")
    let imported = try tool.run(["import", file, "--format", format] + options)
    if mayRefuse, imported.code == 65 {
      #expect(imported.errors.contains(": line "), "\(format): \(imported.errors)")
      #expect(try storage(tool, vault).keys().isEmpty)
      return nil
    }
    #expect(imported.code == 0, "\(format): \(imported.errors)")
    return storage(tool, vault)
  }

  private static func names(_ storage: VaultStorage) throws -> Set<[UInt8]> {
    Set(try storage.keys().map { Array($0.utf8) })
  }

  @Test(arguments: 0..<Depth.count(4, day: 2))
  func whatIsExportedIsImportedAsItWas(_ round: Int) throws {
    let seed = UInt64.random(in: .min ... .max)
    print("export and import, round \(round), seed \(seed)")
    var random = RandomValues(seed: seed)
    let values = Self.values(&random)
    let tool = try Tool()
    let storage = VaultStorage(
      at: URL(fileURLWithPath: tool.vault), keySource: .file(URL(fileURLWithPath: tool.keyFile)))
    for (name, sample) in values { try sample.save(storage, name) }

    let export = try tool.run("export", "--to", "all.json")
    #expect(export.code == 0, "seed \(seed): \(export.errors)")
    let file = try Data(contentsOf: URL(fileURLWithPath: tool.path("all.json")))
    // Text that begins with U+FEFF, and a name of more than 1,024 characters with its escapes.
    let isNoYAML =
      file.firstRange(of: Data(#""\ufeff"#.utf8)) != nil
      || values.contains { JSONValue.string($0.name).text.unicodeScalars.count > 1_024 }
    for format in ["json", "yaml"] {
      let mayRefuse = format == "yaml" && isNoYAML
      guard let copy = try Self.importing("all.json", format, tool, mayRefuse: mayRefuse) else {
        continue
      }
      #expect(try Self.names(copy) == Self.names(storage), "seed \(seed): \(format)")
      for (name, sample) in values {
        #expect(try sample.isSame(storage, name, copy, name), "seed \(seed): \(format): \(name)")
      }
      let vault = ["--vault", try #require(copy.url).path, "--key-file", tool.keyFile]
      let again = try tool.run(["export", "--stdout", "--format", "json"] + vault)
      #expect(again.output == file, "seed \(seed): \(format) in bytes")
    }
    try checkDotenv(values, tool, storage, seed)
  }

  /// A dotenv file has the values that it can say; for the others there is an error, and no file.
  private func checkDotenv(
    _ values: [Named], _ tool: Tool, _ storage: VaultStorage, _ seed: UInt64
  ) throws {
    let all = try tool.run("export", "--to", "all.env", "--json")
    if all.code == 18 {
      let error = try all.error()
      let key = try #require(error["key"] as? String)
      #expect(values.contains { $0.name.utf8.elementsEqual(key.utf8) }, "seed \(seed)")
      #expect((error["message"] as? String)?.contains("dotenv file") == true, "seed \(seed)")
      #expect(!FileManager.default.fileExists(atPath: tool.path("all.env")), "seed \(seed)")
    } else {
      #expect(all.code == 0, "seed \(seed): \(all.errors)")
    }
    let some = try tool.run("export", "--to", "some.env", "--skip")
    #expect(some.code == 0, "seed \(seed): \(some.errors)")
    let copy = try #require(try Self.importing("some.env", "dotenv", tool))
    let names = try Self.names(copy)
    for (name, sample) in values {
      let isThere = names.contains(Array(name.utf8))
      #expect(isThere == sample.suits(dotenv: name), "seed \(seed): \(name), \(sample.type ?? "")")
      if isThere { #expect(try sample.isRead(copy, name), "seed \(seed): dotenv: \(name)") }
    }
  }
}

extension Sample {
  /// Whether a dotenv file can say the value under the name, as securestore(1) has it.
  fileprivate func suits(dotenv name: String) -> Bool {
    name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_.\-]*/.asciiOnlyWordCharacters()) != nil
      && SteeringVariables.reader(of: name) == nil && exactText?.utf8.contains(0) == false
  }
}
