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

  private static func isInstalled(_ program: String) -> Bool {
    ["/usr/bin/", "/bin/", "/usr/local/bin/"].contains {
      FileManager.default.isExecutableFile(atPath: $0 + program)
    }
  }

  @Test(arguments: [
    "LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV",
    "SHELLOPTS",
    "BASHOPTS", "PS4", "PROMPT_COMMAND", "IFS", "PATH", "PERL5OPT", "PERL5LIB", "PERLLIB",
    "PERL5DB",
    "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PYTHONINSPECT", "PYTHONWARNINGS",
    "PYTHONBREAKPOINT",
    "RUBYOPT", "RUBYLIB", "GEM_HOME", "NODE_OPTIONS", "NODE_PATH", "NPM_CONFIG_PREFIX",
    "npm_config_prefix",
    "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_EXEC_PATH", "GIT_PROXY_COMMAND", "GIT_ASKPASS", "GIT_EDITOR", "GIT_PAGER",
    "GIT_CONFIG_GLOBAL",
    "GIT_EXTERNAL_DIFF", "GIT_TEMPLATE_DIR", "SSH_ASKPASS", "EDITOR", "VISUAL", "PAGER", "LESSOPEN",
    "LESSCLOSE", "MANPAGER", "BROWSER", "LUA_INIT", "LUA_INIT_5_4", "LUA_PATH", "LUA_CPATH",
    "PHPRC",
    "PHP_INI_SCAN_DIR", "R_PROFILE_USER", "R_ENVIRON", "JULIA_LOAD_PATH", "TCLLIBPATH",
    "DOTNET_STARTUP_HOOKS", "CORECLR_PROFILER", "COR_PROFILER_PATH", "GUILE_LOAD_PATH", "ERL_FLAGS",
    "ERL_AFLAGS", "ERL_ZFLAGS", "ELIXIR_ERL_OPTIONS", "OPENSSL_CONF", "OPENSSL_MODULES",
    "OPENSSL_ENGINES",
    "GCONV_PATH", "LOCPATH", "NLSPATH", "HOSTALIASES", "RES_OPTIONS", "TMPDIR", "MALLOC_CHECK_",
    "GTK_MODULES", "GTK_PATH", "QT_PLUGIN_PATH", "QT_QPA_PLATFORM_PLUGIN_PATH", "GIO_EXTRA_MODULES",
    "XDG_CONFIG_HOME", "HOME", "USER", "SHELL", "TERM", "TERMINFO", "KUBECONFIG", "http_proxy",
    "HTTPS_PROXY", "DOCKER_HOST", "SWIFT_EXEC", "RUSTC_WRAPPER", "RUSTFLAGS", "CARGO_HOME",
    "GOFLAGS", "CC",
    "CXX", "MAKEFLAGS", "SUDO_ASKPASS", "SSL_CERT_FILE", "BASH_FUNC_ls",
    "TAR_OPTIONS", "GITPERLLIB",
    "AWS_PAGER", "KUBE_EDITOR", "WGET_ASKPASS", "CATALINA_OPTS", "gs_options", "PYTEST_ADDOPTS",
    "GUNICORN_CMD_ARGS", "SASL_PATH", "HDF5_PLUGIN_PATH", "PYTEST_PLUGINS", "FZF_DEFAULT_COMMAND",
    "PSModulePath", "PGSSLROOTCERT",
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
    var seen: Set<String> = []
    for kind in SteeringVariables.all {
      for name in kind.names {
        #expect(VariableNames.isVariable(name), "\(name)")
        #expect(seen.insert(name).inserted, "\(name)")
        #expect(SteeringVariables.reader(of: name) != nil)
      }
      for prefix in kind.prefixes {
        #expect(VariableNames.isVariable(prefix), "\(prefix)")
        #expect(SteeringVariables.reader(of: prefix + "X") != nil)
      }
    }
  }

  @Test(
    arguments: Depth.cases(
      SteeringVariables.all.map { $0.names.sorted().first ?? $0.prefixes[0] + "X" }, day: 5))
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
    let tool = try Self.tool(["perl5opt": "x", "ld.preload": "x"])
    let refused = try tool.run("run", "--all", "--names", "upper", "--", "env")
    #expect(refused.code == 18 && refused.text == "")
    #expect(refused.errors.contains("PERL5OPT") && refused.errors.contains("LD_PRELOAD"))
  }

  @Test func whoNamesTheVariableGetsIt() throws {
    let tool = try Self.tool(["PERL5OPT": "-w", "LD_LIBRARY_PATH": "/nowhere"])
    let run = try tool.run(
      "run", "--env", "PERL5OPT=PERL5OPT", "--env", "LD_LIBRARY_PATH=LD_LIBRARY_PATH", "--",
      "/usr/bin/env")
    #expect(run.lines.contains("PERL5OPT=-w") && run.lines.contains("LD_LIBRARY_PATH=/nowhere"))
  }

  @Test(.enabled(if: isInstalled("perl")), arguments: [["--all"], ["--only", "PERL5OPT"]])
  func perlRunsNoCodeOfTheVault(_ options: [String]) throws {
    let tool = try Self.tool(["PERL5OPT": "-Mevil", "PERL5LIB": "."])
    try tool.write("package evil; print \"of the vault\\n\"; 1;", to: "evil.pm")
    let program = ["--", "perl", "-e", "print \"of the program\\n\""]
    let refused = try tool.run(["run"] + options + program)
    #expect(refused.code == 18 && refused.text == "")
    // So it would be run.
    let chosen = try tool.run(
      ["run", "--env", "PERL5OPT=PERL5OPT", "--env", "PERL5LIB=PERL5LIB"] + program)
    #expect(chosen.lines == ["of the vault", "of the program"])
  }

  @Test(.enabled(if: isInstalled("python3")), arguments: [["--all"], ["--only", "PYTHONPATH"]])
  func pythonRunsNoCodeOfTheVault(_ options: [String]) throws {
    let tool = try Self.tool(["PYTHONPATH": "."])
    try tool.write("print('of the vault')", to: "sitecustomize.py")
    let program = ["--", "/usr/bin/python3", "-c", "print('of the program')"]
    let refused = try tool.run(["run"] + options + program)
    #expect(refused.code == 18 && refused.text == "")
    let chosen = try tool.run(["run", "--env", "PYTHONPATH=PYTHONPATH"] + program)
    #expect(chosen.lines.last == "of the program" && chosen.lines.contains("of the vault"))
  }

  @Test func anExportForShellsHasNoneUnlessItIsNamed() throws {
    let tool = try Self.tool(["PERL5OPT": "-Mevil", "TOKEN": "hunter2"])
    let refused = try tool.run("export", "--stdout", "--format", "dotenv")
    #expect(refused.code == 18 && refused.text == "")
    #expect(refused.errors.contains("PERL5OPT") && !refused.errors.contains("evil"))
    let skipped = try tool.run("export", "--stdout", "--format", "dotenv", "--skip")
    #expect(skipped.lines == ["TOKEN=hunter2"] && skipped.errors.contains("PERL5OPT"))
    let named = try tool.run("export", "--stdout", "--format", "dotenv", "PERL5OPT")
    #expect(named.lines == ["PERL5OPT=-Mevil"])
    #expect(try tool.run("export", "--stdout", "--format", "json").text.contains("PERL5OPT"))
  }
}
