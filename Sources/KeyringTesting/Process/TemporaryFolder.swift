internal import Foundation

/// A folder that nobody else can look into, removed with its last reference or at the exit.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws(KeyringTestingError) {
    var template = Array((NSTemporaryDirectory() + "/keyring.XXXXXX").utf8CString)
    // mkdtemp(3): the mode is 0700.
    let made = unsafe template.withUnsafeMutableBufferPointer { buffer in
      unsafe mkdtemp(buffer.baseAddress!).map { unsafe SystemText.shown($0) }
    }
    guard let made else {
      throw KeyringTestingError("no folder can be made in \(NSTemporaryDirectory())")
    }
    path = made
    LeftFolders.add(path)
  }

  deinit {
    LeftFolders.remove(path)
    Self.remove(path)
  }

  /// Removes a folder.
  ///
  /// Foundation gives up at a file that is gone already, and a daemon that ends removes its own at
  /// that time.
  fileprivate static func remove(_ path: String) {
    _ = Deadline(.seconds(1)).holds {
      // Nobody can handle an error at the end of a reference or of the process; the next line
      // checks.
      try? FileManager.default.removeItem(atPath: path)
      return !FileManager.default.fileExists(atPath: path)
    }
  }

  /// Makes a folder in it, for its owner alone.
  func makeFolder(_ name: String) throws(KeyringTestingError) -> String {
    let folder = path + "/" + name
    guard unsafe mkdir(folder, 0o700) == 0 else {
      throw KeyringTestingError("\(folder) can't be made")
    }
    return folder
  }

  /// Writes a file in it, for its owner alone.
  func write(_ contents: String, to name: String) throws(KeyringTestingError) -> String {
    let file = path + "/" + name
    guard
      FileManager.default.createFile(
        atPath: file, contents: Data(contents.utf8), attributes: [.posixPermissions: 0o600])
    else { throw KeyringTestingError("\(file) can't be written") }
    return file
  }

  /// The content of a file in it, for a message; empty when the file is missing.
  func contents(of name: String) -> String {
    let data = FileManager.default.contents(atPath: path + "/" + name) ?? Data()
    return String(decoding: data.suffix(2_000), as: UTF8.self)
  }
}

/// The existing folders: a global variable is never released, so exit(3) removes its folder.
private enum LeftFolders {
  private static let paths: Guarded<(owner: pid_t, all: Set<String>)> = {
    atexit { LeftFolders.removeAll() }
    return Guarded((getpid(), []))
  }()

  static func add(_ path: String) { paths.withLock { _ = $0.all.insert(path) } }

  static func remove(_ path: String) { paths.withLock { _ = $0.all.remove(path) } }

  private static func removeAll() {
    let (owner, all) = paths.withLock { $0 }
    // A forked child that exits leaves its parent's folders alone.
    guard owner == getpid() else { return }
    for path in all { TemporaryFolder.remove(path) }
  }
}
