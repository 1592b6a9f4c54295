import Foundation
import Testing

/// What a file of YAML stands for, by the rules of YAML 1.2, and never for hours.
struct YAMLRuleTests {
  private func imported(_ text: String) throws -> (Tool, Tool.Result) {
    let tool = try Tool()
    return (tool, try tool.run(["import", "-", "--format", "yaml"], input: Data(text.utf8)))
  }

  private static func levels(_ first: String, _ next: (Int) -> String) -> String {
    ([first] + (1...40).map(next)).joined(separator: "\n") + "\n"
  }

  @Test(arguments: [
    levels("a0: &a0 {}") { "a\($0): &a\($0) {<<: [*a\($0 - 1), *a\($0 - 1)]}" },
    levels("a0: &a0 {x: y}") { "a\($0): &a\($0) {b: *a\($0 - 1), c: *a\($0 - 1)}" },
    levels("a0: &a0 [x]") { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]" } + "? *a40\n: y\n",
    levels("a0: &a0 [x]") { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]" } + "*a40 : y\n",
    levels("a0: &a0 [x]") { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]" } + "{[*a40]: y}: z\n",
    "a: &a {<<: {x: y}}\n? {b: *a}\n: z\n",
  ])
  func aFewLinesThatStandForBillionsAreRefused(_ text: String) throws {
    let (tool, result) = try imported(text)
    #expect(result.code == 65, "\(result.errors)")
    #expect(result.errors.contains("line "), "\(result.errors)")
    #expect(try tool.run("list").text == "")
  }

  @Test func aliasesOfTextAndMergedMappingsAreRead() throws {
    let text = """
      base: &base {host: db, port: 5432}
      name: &name word
      *name : "*not an alias"
      live: {<<: *base, host: live}
      tagged: {!!merge <<: [*base], host: other}
      plain: {! <<: text, "<<": quoted}
      """
    let refused = try imported(text).1
    #expect(refused.code == 65 && refused.errors.contains("a name occurs twice"))
    let (tool, result) = try imported(text.replacing("! <<: text, ", with: ""))
    #expect(result.code == 0, "\(result.errors)")
    #expect(try tool.run("get", "word").text == "*not an alias")
    #expect(try tool.run("get", "live").text.contains("\"port\":5432"))
    #expect(try tool.run("get", "tagged").text.contains("\"port\":5432"))
    #expect(try tool.run("get", "plain").text == #"{"<<":"quoted"}"#)
  }

  @Test func theTagOfAnExclamationMarkMakesText() throws {
    let (tool, result) = try imported("a: ! 12\nb: ! \"yes\"\nc: ! [1]\n")
    #expect(result.code == 0, "\(result.errors)")
    #expect(try tool.run("get", "a", "--json").json()["type"] as? String == "String")
    #expect(try tool.run("get", "a").text == "12" && tool.run("get", "b").text == "yes")
  }

  @Test(arguments: [
    ("%YAML 1.1\n---\n", false), ("%YAML 1.1 # 1.2\n---\n", false),
    (" # c\n%YAML 1.1\n---\n", false), ("\n\t\n%YAML\t1.1\n---\n", false),
    ("%TAG ! !x\n%YAML 1.0\n---\n", false),
    ("%YAML 1.2\n---\n", true), ("%YAML 1.2 \n---\n", true), ("%YAML 1.2 # ok\n---\n", true),
    ("# %YAML 1.1\n---\n", true),
  ])
  func onlyVersion12IsRead(_ start: String, _ isRead: Bool) throws {
    let (tool, result) = try imported(start + "Z: word\n")
    #expect(result.code == (isRead ? 0 : 65), "\(result.errors)")
    #expect(result.errors.contains("%YAML directive") != isRead)
    #expect(try tool.run("list").lines == (isRead ? ["Z"] : []))
  }
}
