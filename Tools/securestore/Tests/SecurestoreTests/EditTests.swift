import Foundation
import Testing

/// `edit`: a value in an editor, in memory only.
struct EditTests {
  /// The folders of edited files.
  private func folders() throws -> Set<String> {
    Set(
      try FileManager.default.contentsOfDirectory(atPath: "/dev/shm")
        .filter { $0.hasPrefix("securestore-") })
  }

  private func tool(_ script: String) throws -> Tool {
    let tool = try Tool()
    try tool.write("#!/bin/sh\n" + script, to: "editor")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o700], ofItemAtPath: tool.path("editor"))
    tool.environment["EDITOR"] = tool.path("editor")
    return tool
  }

  @Test func theEditedTextIsStoredWithItsType() throws {
    let tool = try tool(#"printf '9100\n' >"$1""#)
    _ = try tool.run("set", "text", input: "9000")
    let text = try tool.run("edit", "text")
    #expect(text.code == 0 && text.errors.contains("stored text as text (4 bytes)"))
    #expect(try tool.run("get", "text").text == "9100")
    _ = try tool.run("set", "number", "--type", "int", input: "9000")
    #expect(try tool.run("edit", "number").errors.contains("as Int"))
    #expect(try tool.run("get", "number").text == "9100")
    _ = try tool.run("set", "lines", "--raw", input: "a\n")
    #expect(try tool.run("edit", "lines").code == 0)
    #expect(try tool.run("get", "lines").text == "9100\n")
  }

  @Test func theFileIsInMemoryAndForItsOwnerAloneAndIsGoneAfterwards() throws {
    let tool = try tool(
      #"""
      stat -c '%a %n' "$1" "$(dirname "$1")" >"$HOME/seen"
      stat -f -c %T "$1" >>"$HOME/seen"
      cp "$1" "$(dirname "$1")/.value.swp"; mkdir "$(dirname "$1")/more"
      echo x >"$1.new"; mv "$1.new" "$1"; env >"$HOME/environment"
      """#)
    tool.environment["SECRET_KEY"] = "correct horse battery staple"
    _ = try tool.run("set", "text", input: "hunter2")
    #expect(try tool.run("slots", "add", "--new-key-env", "SECRET_KEY").code == 0)
    let edited = try tool.run("edit", "text")
    #expect(edited.code == 0, "\(edited.errors)")
    #expect(try tool.run("get", "text").text == "x")
    let seen = try String(contentsOfFile: tool.path("seen"), encoding: .utf8)
      .split(separator: "\n").map(String.init)
    #expect(seen[0].hasPrefix("600 /dev/shm/securestore-"))
    #expect(seen[1].hasPrefix("700 /dev/shm/securestore-") && seen[2] == "tmpfs")
    let folder = String(seen[1].dropFirst(4))
    #expect(!FileManager.default.fileExists(atPath: folder))
    let environment = try String(contentsOfFile: tool.path("environment"), encoding: .utf8)
    #expect(!environment.contains("correct horse"))
  }

  @Test(arguments: [
    ("exit 1", 4), (": no change", 0), (#": >"$1""#, 65), (#"rm "$1""#, 66),
    (#"chmod 644 "$1""#, 77), (#"echo ninety >"$1""#, 13),
  ])
  func nothingIsStoredIfTheEditIsNotGood(_ script: String, _ code: Int) throws {
    let tool = try tool(script)
    _ = try tool.run("set", "number", "--type", "int", input: "7")
    let result = try tool.run("edit", "number")
    #expect(result.code == Int32(code), "\(result.errors)")
    #expect(!result.errors.contains("ninety"))
    #expect(try tool.run("get", "number").text == "7")
  }

  @Test func aChangeByAnotherProgramIsNotReplaced() throws {
    let tool = try tool(#"echo mine >"$1"; echo theirs | "$TOOL" set text"#)
    tool.environment["TOOL"] = Tool.executable
    _ = try tool.run("set", "text", input: "before")
    let result = try tool.run("edit", "text")
    #expect(result.code == 3 && result.errors.contains("another program changed the value"))
    #expect(try tool.run("get", "text").text == "theirs")
  }

  @Test func whatCantBeEditedIsSaid() throws {
    let tool = try tool(": never")
    _ = try tool.run("set", "data", "--type", "data", input: "\u{0}\u{1}")
    #expect(try tool.run("edit", "data").code == 18)
    let absent = try tool.run("edit", "dta")
    #expect(absent.code == 1 && absent.errors.contains("did you mean data?"))
    tool.environment["EDITOR"] = nil
    #expect(try tool.run("edit", "data").code == 64)
    tool.environment["EDITOR"] = "/nonexistent/editor"
    _ = try tool.run("set", "text", input: "x")
    #expect(try tool.run("edit", "text").code == 4)
    tool.environment["VISUAL"] = "printf y >\"$1\"; :"
    #expect(try tool.run("edit", "text").code == 0)
    #expect(try tool.run("get", "text").text == "y")
  }

  /// A signal that would end the tool waits until the file is gone.
  @Test func theFileIsGoneAfterASignal() throws {
    let tool = try tool(
      #"printf %s "$(dirname "$1")" >"$HOME/folder"; kill -TERM $PPID; echo x >"$1""#)
    _ = try tool.run("set", "text", input: "hunter2")
    // The shell between the tool and the script would get the signal otherwise.
    tool.environment["EDITOR"] = "exec " + tool.path("editor")
    let result = try tool.run("edit", "text")
    #expect(result.code != 0)
    let folder = try String(contentsOfFile: tool.path("folder"), encoding: .utf8)
    #expect(folder.hasPrefix("/dev/shm/") && !FileManager.default.fileExists(atPath: folder))
    #expect(try tool.run("get", "text").text == "hunter2")
  }
}
