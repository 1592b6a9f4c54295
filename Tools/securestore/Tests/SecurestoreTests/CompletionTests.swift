import Foundation
import Testing

/// The names of values in a shell that completes a line.
struct CompletionTests {
  /// What the program offers for the name behind some words.
  private static func names(_ tool: Tool, _ words: String...) throws -> [String] {
    let line = ["securestore"] + words + [""]
    let run = try tool.run(
      ["---completion", words[0], "--", "positional@0", "\(line.count - 1)", "0"] + line)
    #expect(run.code == 0)
    #expect(run.errors == "")
    return run.lines
  }

  private static func tool() throws -> Tool {
    let tool = try Tool()
    for name in ["TOKEN", "db.password", "a name", "$(touch pwned)", "x;y", "-f", "é"] {
      #expect(try tool.run("set", "--", name, input: "x").code == 0)
    }
    return tool
  }

  /// All files of the home with their size and time, but for those of this test.
  private static func state(_ tool: Tool) throws -> String {
    try tool.shell("find .local -printf '%p %s %T@\\n' | sort").text
  }

  @Test func namesThatAShellTakesAsTheyAreAreOffered() throws {
    let tool = try Self.tool()
    for command in ["get", "set", "remove"] {
      #expect(try Self.names(tool, command) == ["TOKEN", "db.password"])
    }
    tool.environment["SECURESTORE_APP"] = nil
    #expect(try Self.names(tool, "get") == [])
    #expect(try Self.names(tool, "get", "--app", "com.example.tool") == ["TOKEN", "db.password"])
    let file = ["--key-file", tool.keyFile]
    #expect(
      try Self.names(tool, "get", "--vault", tool.vault, file[0], file[1])
        == ["TOKEN", "db.password"])
    // As bash takes a word apart.
    #expect(
      try Self.names(tool, "get", "--app", "=", "com.example.tool") == ["TOKEN", "db.password"])
  }

  @Test func nothingIsLeftBehindAndNobodyIsAsked() throws {
    let tool = try Self.tool()
    tool.environment["XDG_RUNTIME_DIR"] = tool.path("runtime")
    tool.environment["TMPDIR"] = tool.path("runtime")
    try FileManager.default.createDirectory(
      atPath: tool.path("runtime"), withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    // One that writes takes away what those that read have left.
    #expect(try tool.run("compact").code == 0)
    let before = try Self.state(tool)
    #expect(!before.contains("-shm"))
    #expect(try Self.names(tool, "get") == ["TOKEN", "db.password"])
    #expect(try Self.names(tool, "get", "--app", "com.example.none") == [])
    #expect(try Self.names(tool, "get", "--vault", "/dev/null") == [])
    try FileManager.default.removeItem(atPath: tool.keyFile + ".made")
    let bare = try Self.state(tool)
    for words in [
      ["--passphrase"], ["--passphrase-fd", "0"], ["--recovery"], ["--key", "keyring"],
      ["--etcd", "http://127.0.0.1:1"], ["--postgres", "host=127.0.0.1 port=1", "--store", "shop"],
    ] {
      let line = ["securestore", "get"] + words + [""]
      let run = try tool.run(
        ["---completion", "get", "--", "positional@0", "\(line.count - 1)", "0"] + line,
        input: Data("correct horse\n".utf8))
      #expect(run.code == 0 && run.errors == "" && run.lines == [])
    }
    #expect(try Self.names(tool, "get") == ["TOKEN", "db.password"])
    #expect(try Self.state(tool) == bare)
    #expect(try FileManager.default.contentsOfDirectory(atPath: tool.path("runtime")) == [])
    #expect(try tool.run("init", "--app", "com.example.new").code == 0)
    #expect(try Self.names(tool, "get", "--app", "com.example.new") == [])
  }

  @Test func aVaultThatIsInUseIsReadAsItIs() throws {
    let tool = try Self.tool()
    _ = try tool.run("list")
    #expect(FileManager.default.fileExists(atPath: tool.vault + "-wal"))
    let before = try Self.state(tool)
    #expect(try Self.names(tool, "get") == ["TOKEN", "db.password"])
    #expect(try Self.state(tool) == before)
  }

  @Test func aWrongKeyOrAPassphraseOffersNothing() throws {
    let tool = try Tool(hasVault: false)
    try tool.write("correct horse\n", to: "pass")
    #expect(try tool.run("init", "--passphrase-file", "pass").code == 0)
    #expect(
      try tool.run("set", "A", "--passphrase-file", "pass", input: "x").code == 0)
    #expect(try Self.names(tool, "get") == [])
    try tool.write(Data(repeating: 1, count: 32).base64EncodedString(), to: "wrong.key")
    #expect(try Self.names(tool, "get", "--key-file", tool.path("wrong.key")) == [])
  }

  @Test func valuesOfOptionsAreCompleted() throws {
    let tool = try Tool(hasVault: false)
    for shell in ["bash", "zsh", "fish"] {
      let script = try tool.run("--generate-completion-script", shell).text
      for value in ["xaes-256-gcm", "dotenv", "double"] { #expect(script.contains(value)) }
      let sources = script.range(of: #"keyring['$\\n ]+desktop"#, options: .regularExpression)
      #expect(sources != nil, "\(shell)")
    }
    #expect(try tool.run("set", "--help").text.contains("double"))
  }

  @Test func scriptsOfAllShellsAskForNames() throws {
    let tool = try Tool(hasVault: false)
    for shell in ["bash", "zsh", "fish"] {
      let script = try tool.run("--generate-completion-script", shell).text
      #expect(script.contains("---completion get -- positional@0"), "\(shell)")
      #expect(script.contains("---completion run -- --only"), "\(shell)")
    }
  }
}
