import DefaultsBackend
import Foundation
import Glibc

/// A fresh folder for the owner alone, removed when the tests end.
///
/// Not with its last reference: that may go before the delegates that write here.
struct TemporaryFolder: Sendable {
  /// Holds all of them.
  ///
  /// Others may pass, since some tests run as somebody else.
  static let root: String = {
    let folder = make(in: NSTemporaryDirectory())
    _ = unsafe chmod(folder, 0o755)
    atexit { try? FileManager.default.removeItem(atPath: TemporaryFolder.root) }
    return folder
  }()

  let path: String
  /// The file of the suite that ``delegate(_:)`` uses.
  var file: String { path + "/suite.secure.plist" }

  init() { path = Self.make(in: Self.root) }

  private static func make(in parent: String) -> String {
    var template = Array((parent + "/sps-defaults.XXXXXX").utf8CString)
    guard let made = unsafe mkdtemp(&template) else { fatalError("mkdtemp: \(errno)") }
    return URL(fileURLWithPath: unsafe String(cString: made)).resolvingSymlinksInPath().path
  }

  /// A delegate of this process.
  func delegate(
    _ durability: DefaultsDurability = .immediate, deadline: Duration = .seconds(60)
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
