import DefaultsBackend
import Foundation
import Glibc

/// A fresh folder for the owner alone, removed with its test.
final class TemporaryFolder: Sendable {
  let path: String
  /// The file of the suite that ``delegate(_:)`` uses.
  var file: String { path + "/suite.secure.plist" }

  init() {
    var template = Array((NSTemporaryDirectory() + "/sps-defaults.XXXXXX").utf8CString)
    guard let made = unsafe mkdtemp(&template) else { fatalError("mkdtemp: \(errno)") }
    path = URL(fileURLWithPath: unsafe String(cString: made)).resolvingSymlinksInPath().path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// A delegate of this process.
  func delegate(
    _ durability: DefaultsDurability = .immediate, deadline: Duration = .seconds(5)
  ) -> DefaultsDelegate {
    DefaultsDelegate(
      folder: path, suiteName: "suite", durability: durability, deadline: deadline)
  }

  /// The bytes of the suite's file, or nil when there is none.
  var bytes: [UInt8]? {
    FileManager.default.contents(atPath: file).map { Array($0) }
  }

  /// Puts bytes where the suite's file is, as another program would.
  func put(_ bytes: [UInt8]) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    _ = unsafe chmod(file, 0o600)
  }

  /// The names of what is in the folder.
  var entries: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: path))?.sorted() ?? []
  }
}
