import Foundation
import Testing

@testable import securestore

/// Small files as people write them, each with what import makes of it, and what other tools read.
///
/// `NAME.json` beside a file has `imported` or `refused`, and in `answers` what the tool of that
/// name and version reads. `rule` says why import differs from an answer; `Corpus/answers.py`
/// writes the answers.
struct CorpusTests {
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("Corpus")

  private static func files(_ ending: String) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder.path)
        .filter { $0.hasSuffix(ending) }.sorted()
    } catch {
      return []
    }
  }

  private static func text(_ name: String) throws -> String {
    let data = try Data(contentsOf: folder.appendingPathComponent(name))
    return try #require(String(validating: data, as: UTF8.self))
  }

  private static func expected(_ name: String) throws -> JSONValue {
    try JSONReader.value(of: text(name + ".json"))
  }

  @Test func theCorpusIsThere() {
    #expect(Self.files(".env").count > 50 && Self.files(".yaml").count > 40)
  }

  @Test(arguments: files(".env"))
  func aDotenvFileMeansWhatItsAuthorsToolsSay(_ name: String) throws {
    let expected = try Self.expected(name)
    let text = try Self.text(name)
    if let reason = expected["refused"]?.string { return try refuses(reason) { try Dotenv(text) } }
    let entries = try Dotenv(text).entries.map { ($0.name, JSONValue.string($0.value)) }
    #expect(JSONValue.object(entries).text == expected["imported"]?.text)
    guard expected["rule"] == nil else { return }
    for (tool, answer) in try #require(members(expected["answers"])) {
      // A shell sets no variable on a line that it can't read.
      for (variable, value) in try #require(members(answer)) {
        #expect(expected["imported"]?[variable]?.text == value.text, "\(tool): \(variable)")
      }
    }
  }

  @Test(arguments: files(".yaml"))
  func aYAMLFileMeansWhatItsAuthorsToolsSay(_ name: String) throws {
    let expected = try Self.expected(name)
    let text = try Self.text(name)
    var reader = YAMLReader(text)
    if let reason = expected["refused"]?.string {
      return try refuses(reason) { try reader.value().json() }
    }
    let value = try reader.value().json()
    #expect(value.text == (expected["raw"]?.string ?? expected["imported"]?.text))
    let lines = Set(reader.laterTexts.map(\.line)).sorted().map { JSONValue.number("\($0)") }
    #expect(JSONValue.array(lines).text == expected["laterTexts"]?.text ?? "[]")
    guard expected["rule"] == nil else { return }
    for (tool, answer) in try #require(members(expected["answers"]))
    where tool.hasPrefix("ruamel.yaml") {
      #expect(try sorted(value) == sorted(answer), "\(tool)")
    }
  }

  /// Refuses with the reason that is expected, and with no line of the file.
  private func refuses<Value>(_ reason: String, _ body: () throws -> Value) throws {
    let failure = #expect(throws: Failure.self) { _ = try body() }
    #expect(failure?.message.hasPrefix(reason) == true, "\(failure?.message ?? "")")
    #expect(failure?.status == .malformedInput)
  }

  private func members(_ json: JSONValue?) -> [(String, JSONValue)]? {
    if case .object(let members)? = json { members } else { nil }
  }

  /// The value with sorted names, and with numbers as numbers.
  private func sorted(_ json: JSONValue) throws -> Data {
    let value = try JSONSerialization.jsonObject(
      with: Data(json.text.utf8), options: .fragmentsAllowed)
    return try JSONSerialization.data(
      withJSONObject: value, options: [.sortedKeys, .fragmentsAllowed])
  }
}
