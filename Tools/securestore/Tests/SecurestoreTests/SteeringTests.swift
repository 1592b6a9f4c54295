import Foundation
import TestSupport
import Testing

@testable import securestore

/// Variables that control programs do not come out of a vault by their names.
struct SteeringTests {
  /// A vault that its writer filled to have code run.
  private static func tool(_ values: [String: String]) throws -> Tool {
    let tool = try Tool()
    for (name, value) in values {
      #expect(try tool.run("set", "--raw", "--", name, input: value).code == 0)
    }
    return tool
  }

  @Test(arguments: [
    "LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV",
    "SHELLOPTS",
    "BASHOPTS", "PS4", "PROMPT_COMMAND", "IFS", "PATH", "OPENSSL_CONF", "OPENSSL_MODULES",
    "OPENSSL_ENGINES", "GCONV_PATH", "LOCPATH", "NLSPATH", "HOSTALIASES", "RES_OPTIONS", "TMPDIR",
    "MALLOC_CHECK_", "XDG_CONFIG_HOME", "HOME", "USER", "SHELL", "TERM", "TERMINFO", "http_proxy",
    "HTTPS_PROXY", "SUDO_ASKPASS", "SSL_CERT_FILE", "BASH_FUNC_ls",
  ])
  func itIsInTheTable(_ variable: String) {
    #expect(SteeringVariables.reader(of: variable) != nil)
  }

  @Test(arguments: [
    "TOKEN", "DATABASE_URL", "PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID",
    "GITHUB_TOKEN",
    "API_KEY", "path", "home", "Environment", "user", "TERMINAL_TOKEN", "REDIS_URL",
    "LDAP_PASSWORD", "PAGERDUTY_TOKEN", "OPTIONS", "AWS_ENDPOINT_URL",
  ])
  func aUsualSecretIsNot(_ variable: String) {
    #expect(SteeringVariables.reader(of: variable) == nil)
  }

  @Test func noNameIsInTheTableTwiceOrCantBeAVariable() {
    let names = SteeringVariables.all.flatMap(\.names).map { $0.filter { $0 != "*" } }
    #expect(Set(names).count == names.count)
    #expect(names.allSatisfy { VariableNames.isVariable($0) })
  }

  @Test(
    arguments: Depth.cases(
      SteeringVariables.all.map { String($0.names[0]).replacing("*", with: "X") }, day: 5))
  func everyKindIsRefusedByNameBeforeAnythingIsStarted(_ variable: String) throws {
    let tool = try Self.tool(["TOKEN": "hunter2", variable: "x"])
    let mark = tool.folder.path + "/started"
    let program = ["--", "/usr/bin/touch", mark]
    for options in [["--all"], ["--only", variable], ["--only", "TOKEN", "--all"]] {
      let refused = try tool.run(["run"] + options + program)
      #expect(refused.code == 18 && refused.text == "")
      #expect(refused.errors.contains(variable) && refused.errors.contains("--env"))
      #expect(!refused.errors.contains("hunter2"))
    }
    #expect(!FileManager.default.fileExists(atPath: mark))
    #expect(try tool.run(["run", "--only", "TOKEN"] + program).code == 0)
    #expect(FileManager.default.fileExists(atPath: mark))
  }

  @Test func aNameThatBecomesOneIsRefused() throws {
    let tool = try Self.tool(["bash_env": "x", "ld.preload": "x"])
    let refused = try tool.run("run", "--all", "--names", "upper", "--", "env")
    #expect(refused.code == 18 && refused.text == "")
    #expect(refused.errors.contains("BASH_ENV") && refused.errors.contains("LD_PRELOAD"))
  }

  @Test func whoNamesTheVariableGetsIt() throws {
    let tool = try Self.tool(["BASH_ENV": "-w", "LD_LIBRARY_PATH": "/nowhere"])
    let run = try tool.run(
      "run", "--env", "BASH_ENV=BASH_ENV", "--env", "LD_LIBRARY_PATH=LD_LIBRARY_PATH", "--",
      "/usr/bin/env")
    #expect(run.lines.contains("BASH_ENV=-w") && run.lines.contains("LD_LIBRARY_PATH=/nowhere"))
  }

  @Test func anExportForShellsHasNoneUnlessItIsNamed() throws {
    let tool = try Self.tool(["BASH_ENV": "evil", "TOKEN": "hunter2"])
    let refused = try tool.run("export", "--stdout", "--format", "dotenv")
    #expect(refused.code == 18 && refused.text == "")
    #expect(refused.errors.contains("BASH_ENV") && !refused.errors.contains("evil"))
    let skipped = try tool.run("export", "--stdout", "--format", "dotenv", "--skip")
    #expect(skipped.lines == ["TOKEN=hunter2"] && skipped.errors.contains("BASH_ENV"))
    let named = try tool.run("export", "--stdout", "--format", "dotenv", "BASH_ENV")
    #expect(named.lines == ["BASH_ENV=evil"])
    #expect(try tool.run("export", "--stdout", "--format", "json").text.contains("BASH_ENV"))
  }
}
