import Foundation
import TestSupport
import Testing

/// Arguments and variables that are not UTF-8 are refused, before anything is read or made.
struct InexactTextTests {
  @Test(
    arguments: Depth.cases(
      [
        "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "STATE_DIRECTORY",
        "CREDENTIALS_DIRECTORY", "SECURESTORE_VAULT", "SECURESTORE_APP", "SECURESTORE_KEY_FILE",
        "SECURESTORE_MOUNTED_SECRET", "DBUS_SESSION_BUS_ADDRESS", "VISUAL",
      ], day: 3))
  func aVariableIsRefusedByName(_ name: String) throws {
    let tool = try Tool()
    _ = try tool.run("set", "token", input: "secret")
    let before = try FileManager.default.subpathsOfDirectory(atPath: tool.folder.path)
      .filter { !$0.hasPrefix(".") || $0.hasPrefix(".local") }
    for command in ["get token", "set token </dev/null", "init", "list"] {
      let result = try tool.shell("\(name)=\"$HOME/$(printf 'a\\361')\" \"$0\" \(command)")
      #expect(result.code == 64, "\(command): \(result.errors)")
      #expect(result.errors.contains(name))
      #expect(result.text.isEmpty)
    }
    let after = try FileManager.default.subpathsOfDirectory(atPath: tool.folder.path)
      .filter { !$0.hasPrefix(".") || $0.hasPrefix(".local") }
    #expect(Set(before) == Set(after))
    #expect(try tool.run("get", "token").text == "secret")
  }

  @Test func anArgumentIsRefused() throws {
    let tool = try Tool()
    for arguments in [
      "set \"$N\"", "get \"$N\"", "get token --vault \"$N\"", "run --app \"$N\" -- true",
    ] {
      let result = try tool.shell("N=$(printf 'a\\361'); \"$0\" \(arguments) </dev/null")
      #expect(
        result.code == 64 && result.errors.contains("UTF-8"), "\(arguments): \(result.errors)")
    }
  }

  @Test(arguments: ["\\012", "\\015", "\\000", "A"])
  func aKeyFileOf32BytesIsAKeyWhateverItEndsIn(_ last: String) throws {
    let tool = try Tool(hasVault: false)
    let made = try tool.shell(
      """
      umask 077; { head -c 31 /dev/zero | tr '\\0' '\\15'; printf '\(last)'; } >"$HOME/raw"
      "$0" init --key-file "$HOME/raw" && printf v | "$0" set k --key-file "$HOME/raw" \
        && "$0" get k --key-file "$HOME/raw"
      """)
    #expect(made.code == 0 && made.text.hasSuffix("v"), "\(made.errors)")
  }
}
