import Foundation
import Testing

/// Names that look alike, in one code point and in two, are two names.
struct ExactNameTests {
  private static let composed = "\u{E9}"
  private static let decomposed = "e\u{301}"
  private let names = [composed, decomposed]

  @Test(arguments: [["files"], []])
  func aRenameToTheOtherFormReplacesNoValue(_ group: [String]) throws {
    let tool = try Tool()
    if !group.isEmpty { #expect(try tool.run("files", "init").code == 0) }
    let store = group.isEmpty ? "set" : "put"
    for name in names {
      let stored = try tool.run(group + [store, name], input: Data("of \(name.utf8.count)".utf8))
      #expect(stored.code == 0, "\(stored.errors)")
    }
    for (old, new) in [(names[0], names[1]), (names[1], names[0])] {
      #expect(try tool.run(group + ["rename", old, new]).code == 3)
    }
    for name in names {
      #expect(try tool.run(group + ["get", name]).text == "of \(name.utf8.count)")
    }
    #expect(try tool.run(group + ["remove", names[0]]).code == 0)
    #expect(try tool.run(group + ["rename", names[1], names[0]]).code == 0)
    #expect(try tool.run(group + ["get", names[0]]).text == "of 3")
    #expect(try tool.run(group + ["get", names[1]]).code == 1)
  }

  @Test(arguments: ["json", "yaml"])
  func aFileHasBothNamesOfValuesAndNotInsideAValue(_ format: String) throws {
    let tool = try Tool()
    func imported(_ text: String) throws -> Tool.Result {
      try tool.run(["import", "-", "--format", format], input: Data(text.utf8))
    }
    let both = try imported("{\"\(names[0])\": \"of 2\", \"\(names[1])\": \"of 3\"}")
    #expect(both.code == 0, "\(both.errors)")
    for name in names { #expect(try tool.run("get", name).text == "of \(name.utf8.count)") }
    let inner = try imported("{\"x\": {\"\(names[0])\": 1, \"\(names[1])\": 2}}")
    #expect(inner.code == 65 && inner.errors.contains("encoding of their accents"))
    let twice = try imported("{\"\(names[1])\": 1, \"\(names[1])\": 2}")
    #expect(twice.code == 65 && twice.errors.contains("a name occurs twice"), "\(twice.errors)")
  }

  @Test func verifyExpectsTheNameAndNotTheOneThatLooksLikeIt() throws {
    let tool = try Tool()
    _ = try tool.run("set", names[0], input: "v")
    #expect(try tool.run("verify", "--expect", names[0]).code == 0)
    let missing = try tool.run("verify", "--expect", names[1])
    #expect(missing.code == 2 && missing.text.contains("absent"))
  }
}
