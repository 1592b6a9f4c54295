import Foundation
import Testing

/// What the program says when it can't do what it was asked: where it failed, and what to do next.
struct AdviceTests {
  @Test func aVaultThatCanOnlyBeReadIsToldOfInWordsOfTheProgram() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "x")
    try tool.locking(tool.data) {
      #expect(try tool.runUnprivileged(["get", "A"]).text == "x")
      for arguments in [["remove", "A"], ["compact"], ["recovery"]] {
        let refused = try tool.runUnprivileged(arguments)
        #expect(refused.code == 17)
        #expect(refused.errors.contains("\(tool.vault): it can't be written to here"))
        #expect(refused.errors.contains("make its file and its folder writable"))
        #expect(!refused.errors.contains("VaultAccess"))
      }
    }
    #expect(try tool.run("get", "A").text == "x")
  }
}
