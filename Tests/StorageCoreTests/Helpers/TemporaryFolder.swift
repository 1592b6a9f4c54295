import Foundation

/// A folder of one test, removed with it; others may pass, but put nothing into it.
final class TemporaryFolder: Sendable {
  /// Its absolute path.
  let path: String

  init() throws {
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("sps-test-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o711])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The URL of a file in the folder.
  func file(_ name: String) -> URL { URL(fileURLWithPath: path + "/" + name) }

  /// The names of what is in the folder.
  func contents() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  /// Makes a file.
  @discardableResult
  func write(_ text: String, to name: String, permissions: Int = 0o600) throws -> URL {
    let url = file(name)
    try Data(text.utf8).write(to: url)
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: url.path)
    return url
  }
}
