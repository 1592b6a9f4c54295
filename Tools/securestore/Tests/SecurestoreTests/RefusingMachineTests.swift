import Foundation
import Glibc
import Testing

/// What the program says where the system refuses: one line, one exit code, and nothing half made.
struct RefusingMachineTests {
  private let manager = FileManager.default

  private func entries(_ tool: Tool, _ name: String) throws -> [String] {
    try manager.subpathsOfDirectory(atPath: tool.path(name)).sorted()
  }

  @Test(.enabled(if: geteuid() == 0, "needs root"))
  func rootMakesNothingInAnotherUsersHome() throws {
    let tool = try Tool(hasVault: false)
    let home = tool.path("home")
    try manager.createDirectory(
      atPath: home, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
    #expect(unsafe chown(home, 65_533, 65_533) == 0)
    tool.environment["HOME"] = home
    let key = tool.path("key")
    for command in [
      ["init"], ["files", "init", "--app", "com.example.tool"],
      ["init", "--vault", home + "/x/v", "--key-file", key],
      ["init", "--vault", tool.path("v"), "--key-file", home + "/k/key"],
      ["files", "init", "--folder", home + "/f", "--key-file", key],
    ] {
      let result = try tool.run(command)
      #expect(result.code == 77, "\(command): \(result.errors)")
      #expect(result.errors.contains("belongs to another user"))
      #expect(try entries(tool, "home") == [])
    }
    #expect(!manager.fileExists(atPath: key) && !manager.fileExists(atPath: tool.path("v")))
  }

  @Test(.enabled(if: geteuid() == 0, "needs root"))
  func rootWritesNoValueInAnotherUsersHome() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "value")
    #expect(try tool.run("files", "init").code == 0)
    #expect(try tool.run("files", "put", "F", input: "value").code == 0)
    let home = tool.path("home")
    try manager.createDirectory(
      atPath: home, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
    #expect(unsafe chown(home, 65_533, 65_533) == 0)
    let commands = [
      ["export", "--to", home + "/e.json"], ["files", "get", "F", "--to", home + "/f"],
      ["files", "export", home + "/all"], ["backup", home + "/b"],
    ]
    for command in commands {
      let result = try tool.run(command)
      #expect(result.code == 77, "\(command): \(result.errors)")
      #expect(result.errors.contains("belongs to another user"))
      #expect(try entries(tool, "home") == [])
    }
    // Where its owner lets others write, root may write as well.
    #expect(unsafe chmod(home, 0o1777) == 0)
    for command in commands.dropLast() { #expect(try tool.run(command).code == 0, "\(command)") }
  }

  @Test func aFailedInitSaysWhatItLeft() throws {
    var left = 0
    for limit in 6...16 {
      let tool = try Tool(hasVault: false)
      let result = try tool.shell("ulimit -n \(limit); exec \"$0\" init")
      let isThere = manager.fileExists(atPath: tool.vault)
      guard result.code != 0, isThere else { continue }
      left += 1
      #expect(result.errors.contains(tool.vault + ": this was created"), "\(result.errors)")
      #expect(try tool.run("reset", "--yes").code == 0)
      let made = try tool.run("init")
      #expect(made.code == 0, "\(made.errors)")
    }
    #expect(left > 0)
  }

  @Test func anAnswerThatCannotBeWrittenIsAFailure() throws {
    let tool = try Tool(hasVault: false)
    for words in ["--version", "--help", "help init", "--generate-completion-script bash"] {
      for target in ["/dev/full", "&-"] {
        let result = try tool.shell("exec \"$0\" \(words) >\(target)")
        #expect(result.code != 0 && result.errors.hasPrefix("securestore: "), "\(words) \(target)")
      }
      let written = try tool.shell("exec \"$0\" \(words)")
      #expect(written.code == 0 && !written.text.isEmpty, "\(words)")
    }
  }

  @Test func aRelativePathInARemovedFolderIsOneError() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "value")
    for command in [
      "list --vault v", "init --vault v --key-file k",
      "init --vault \(tool.path("w")) --key-file k",
      "files init --folder f --key-file k", "backup b", "export --to out", "audit c.json",
      "files restore --folder \(tool.path("f")) --key-file k b",
    ] {
      let result = try tool.shell(
        "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" \(command)")
      #expect(result.code == 69, "\(command): \(result.errors)")
      #expect(result.errors.contains("the working folder was removed"), "\(command)")
    }
    #expect(!manager.fileExists(atPath: tool.path("w")))
    // An absolute path needs no working folder.
    let result = try tool.shell(
      "mkdir gone && cd gone && rmdir ../gone && \"$0\" get A && \"$0\" list")
    #expect(result.code == 0 && result.lines == ["valueA"])
  }

  @Test(.enabled(if: geteuid() == 0, "needs the right to mount in a namespace"))
  func withoutProcItSaysSoAndDoesNothing() throws {
    let tool = try Tool()
    for command in ["get A", "init --vault \(tool.path("w")) --key-file \(tool.path("k"))", ""] {
      let result = try tool.shell(
        "exec unshare -m --propagation private sh -c 'umount -l /proc && exec \"$0\" \(command)' \"$0\""
      )
      #expect(result.code == 69 && result.output.isEmpty, "\(command): \(result.errors)")
      #expect(result.errors.contains("/proc is not mounted"))
    }
    #expect(!manager.fileExists(atPath: tool.path("w")))
  }

  @Test func aWriteBeyondTheFileSizeLimitIsAnErrorAndNoSignal() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: String(repeating: "a", count: 20_000))
    let init0 = try tool.shell(
      "ulimit -f 8; exec \"$0\" init --vault \(tool.path("w")) --key-file \(tool.path("k"))")
    #expect(init0.code == 16, "\(init0.errors)")
    #expect(!manager.fileExists(atPath: tool.path("w")))
    let export = try tool.shell("ulimit -f 4; exec \"$0\" export --to \(tool.path("out"))")
    #expect(export.code == 16 && export.errors.contains("ulimit -f"), "\(export.errors)")
    #expect(!manager.fileExists(atPath: tool.path("out")))
    let get = try tool.shell("ulimit -f 4; exec \"$0\" get A > \(tool.path("text"))")
    #expect(get.code == 16, "\(get.errors)")
    let set = try tool.shell(
      "ulimit -f 40; head -c 100000 /dev/zero | tr '\\0' b | \"$0\" set A")
    #expect(set.code == 16 && set.errors.contains("ulimit -f"), "\(set.errors)")
    #expect(try tool.run("get", "A").output.count == 20_000)
  }

  @Test func aProgramThatIsRunGetsTheSignalAsItWas() throws {
    let tool = try Tool()
    _ = try tool.run("set", "A", input: "value")
    let script =
      "grep SigIgn /proc/self/status; exec \"$0\" run --only A -- grep SigIgn /proc/self/status"
    let lines = try tool.shell(script).lines
    #expect(lines.count == 2 && lines.first == lines.last)
    let ignored = try tool.shell("trap '' XFSZ; \(script)").lines
    #expect(ignored.count == 2 && ignored.first == ignored.last && ignored != lines)
  }

  @Test(arguments: [505, 700])
  func aPathThatIsTooLongMakesNothing(_ count: Int) throws {
    let tool = try Tool(hasVault: false)
    var path = tool.path("deep")
    while path.utf8.count < count - 60 { path += "/" + String(repeating: "d", count: 40) }
    path += "/" + String(repeating: "v", count: count - path.utf8.count - 1)
    let key = tool.path("key")
    let result = try tool.run("init", "--vault", path, "--key-file", key)
    #expect(result.code == 64 && result.errors.contains("too long"), "\(result.errors)")
    #expect(!manager.fileExists(atPath: key) && !manager.fileExists(atPath: tool.path("deep")))
    // A key file needs a marker with a longer name.
    let long = tool.path(String(repeating: "k", count: 252))
    let made = try tool.run("init", "--vault", tool.path("v"), "--key-file", long)
    #expect(made.code == 64 && made.errors.contains("too long"), "\(made.errors)")
    #expect(!manager.fileExists(atPath: long) && !manager.fileExists(atPath: tool.path("v")))
  }

  @Test func aFolderThatCantBeListedIsOneErrorWithAdvice() throws {
    let tool = try Tool(hasVault: false)
    let folder = tool.path("files")
    let place = ["--folder", folder, "--key-file", tool.path("key")]
    #expect(try tool.run(["files", "init"] + place).code == 0)
    // Whether it has files is asked where its index is gone.
    try manager.removeItem(atPath: folder + "/index.vault")
    try manager.createDirectory(
      atPath: folder + "/blobs", withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o000])
    defer {
      try? manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder + "/blobs")
    }
    let denied = try tool.runUnprivileged(["files", "list"] + place)
    #expect(denied.code == 77, "\(denied.errors)")
    #expect(denied.errors.contains("chmod u+rx") && !denied.errors.contains("NSCocoa"))
    try manager.removeItem(atPath: folder + "/blobs")
    try tool.write("", to: "files/blobs")
    let file = try tool.run(["files", "list"] + place)
    #expect(file.code == 74 && file.errors.contains("move it away"), "\(file.errors)")
    #expect(!file.errors.contains("NSCocoa"))
  }
}
