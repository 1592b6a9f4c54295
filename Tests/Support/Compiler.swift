private import Foundation

/// Hands sources to the compiler, beside the modules that the tests were built with.
package enum Compiler {
  /// Type-checks a source, `source.swift`, in Swift 6.
  ///
  /// - Parameters:
  ///   - source: the source.
  ///   - flags: further flags of the compiler.
  ///   - modules: the C modules of the package that the imported modules need.
  /// - Returns: the lines it said.
  /// - Throws: an error of Foundation if the source can't be written or the compiler not started.
  package static func check(
    _ source: String, _ flags: [String] = [], cModules modules: [String] = []
  ) throws -> [String] {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "source.swift").path
    try source.write(toFile: path, atomically: true, encoding: .utf8)
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let built = program.deletingLastPathComponent().appending(path: "Modules").path
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    var maps = modules.flatMap { name in
      let map = package.appending(path: "Sources/\(name)/module.modulemap").path
      return ["-Xcc", "-fmodule-map-file=\(map)"]
    }
    if modules.contains("CLibsecret") {
      let folders = try Child.run(["pkg-config", "--cflags", "libsecret-1"])
      maps += folders.flatMap { $0.split(separator: " ") }.flatMap { ["-Xcc", String($0)] }
    }
    let compiler = ["swiftc", "-typecheck", "-swift-version", "6", "-I", built] + maps
    return try Child.run(
      ["sh", "-c", "exec \"$@\" 2>&1", "sh"] + compiler + flags + [path], mayFail: true)
  }
}
