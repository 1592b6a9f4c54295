import Foundation
import Glibc
import Testing

/// The built program in a home folder of its own, with a vault that a key file opens.
final class Tool {
  /// What a run left.
  struct Result {
    let code: Int32
    let output: Data
    let errors: String

    var text: String { String(decoding: output, as: UTF8.self) }
    var lines: [String] { text.split(separator: "\n").map(String.init) }

    /// The answer in JSON.
    func json() throws -> [String: Any] {
      try #require(try JSONSerialization.jsonObject(with: output) as? [String: Any])
    }

    /// The error in JSON.
    func error() throws -> [String: Any] {
      let all = try #require(
        try JSONSerialization.jsonObject(with: Data(errors.utf8)) as? [String: Any])
      return try #require(all["error"] as? [String: Any])
    }
  }

  /// The program, which is built beside the tests.
  static let executable: String = {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    return tests.deletingLastPathComponent().appendingPathComponent("securestore").path
  }()

  let folder: URL
  var environment: [String: String]
  /// The session that it is in, which ends with it.
  var session: Session?
  private static let application = "com.example.tool"

  /// Makes the home folder and, unless `hasVault` is false, a vault that the environment names.
  init(hasVault: Bool = true) throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("securestore.\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    environment = [
      "HOME": folder.path, "PATH": "/usr/bin:/bin", "SECURESTORE_APP": Self.application,
    ]
    for (name, value) in ProcessInfo.processInfo.environment where name == "LD_LIBRARY_PATH" {
      environment[name] = value
    }
    guard hasVault else { return }
    for file in try Self.made.get() {
      let path = path(file.name)
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      let isWritten = FileManager.default.createFile(
        atPath: path, contents: file.bytes, attributes: [.posixPermissions: 0o600])
      try #require(isWritten)
    }
  }

  /// The files that `securestore init` makes, which each test has a copy of.
  private static let made = Swift.Result {
    let tool = try Tool(hasVault: false)
    let made = try tool.run("init")
    try #require(made.code == 0, "\(made.errors)")
    let names = try FileManager.default.subpathsOfDirectory(atPath: tool.folder.path)
    return try names.compactMap { name -> (name: String, bytes: Data)? in
      let url = tool.folder.appendingPathComponent(name)
      guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
        return nil
      }
      return (name, try Data(contentsOf: url))
    }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// A path in the home folder.
  func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// The folder of the application's vault and key file.
  var data: String { path(".local/share/\(Self.application)") }
  /// The application's vault.
  var vault: String { data + "/default.vault" }
  /// The application's key file.
  var keyFile: String { data + "/master.key" }

  /// Writes a file for the owner alone.
  @discardableResult
  func write(_ text: String, to name: String) throws -> String {
    let made = FileManager.default.createFile(
      atPath: path(name), contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
    try #require(made)
    return path(name)
  }

  /// Runs the program to its end.
  func run(_ arguments: String..., input: String = "") throws -> Result {
    try run(arguments, input: Data(input.utf8))
  }

  func run(_ arguments: [String], input: Data = Data()) throws -> Result {
    try run([Self.executable] + arguments, input)
  }

  /// Runs the program by way of a shell, where it is `$0`.
  func shell(_ script: String) throws -> Result {
    try run(["/bin/bash", "-c", script, Self.executable], Data())
  }

  /// Runs the program without what root may do beyond what permissions allow.
  func runUnprivileged(_ arguments: [String]) throws -> Result {
    let prefix = geteuid() == 0 ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] : []
    return try run(prefix + [Self.executable] + arguments, Data())
  }

  /// Runs `body` while nothing can be made in, or removed from, a folder.
  func locking(_ folder: String, _ body: () throws -> Void) throws {
    let manager = FileManager.default
    try manager.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder)
    defer { try? manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder) }
    try body()
  }

  private func run(_ command: [String], _ input: Data) throws -> Result {
    let files = try ["in", "out", "err"].map { name in
      let path = path(".\(name).\(UUID().uuidString)")
      try (name == "in" ? input : Data()).write(to: URL(fileURLWithPath: path))
      return path
    }
    defer { for file in files { try? FileManager.default.removeItem(atPath: file) } }
    let status = try ChildProcess.run(
      command, environment: environment, folder: folder.path, streams: files)
    return Result(
      code: status.code,
      output: try Data(contentsOf: URL(fileURLWithPath: files[1])),
      errors: String(decoding: try Data(contentsOf: URL(fileURLWithPath: files[2])), as: UTF8.self))
  }
}
