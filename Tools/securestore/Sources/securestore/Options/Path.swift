internal import Foundation
internal import Glibc

/// Paths as they were given on the command line.
enum Path {
  /// The path from the root, with no link resolved.
  static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/") else { return path }
    guard let folder = unsafe getcwd(nil, 0) else { return path }  // refused as a relative one
    defer { unsafe free(folder) }
    return unsafe String(cString: folder) + "/" + path
  }

  /// The last component as a vault records that of a key file.
  ///
  /// A slash with a mark that combines with it is one character, and no slash; Foundation cuts there.
  static func name(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return path }
    return String(path[path.index(after: slash)...])
  }

  /// Whether there is anything, a broken link included.
  static func isThere(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
  }

  /// What tells a file from all others; nil when there is none.
  static func identity(_ path: String?) -> [UInt64]? {
    var status = stat()
    guard let path, unsafe stat(path, &status) == 0 else { return nil }
    return [UInt64(status.st_dev), UInt64(status.st_ino)]
  }

  /// Why nothing can be made at a path: what is there; nil when there is nothing.
  ///
  /// - Parameters:
  ///   - path: the path.
  ///   - instead: what can be done about a file.
  /// - Returns: the failure to throw.
  static func occupation(of path: String, instead: String = "") -> Failure? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return nil }
    let message =
      switch status.st_mode & S_IFMT {
      case S_IFLNK where unsafe stat(path, &status) != 0:
        "there is a link, which leads nowhere; it was not touched. Remove it, or give another path"
      case S_IFLNK: "there is a link already; it was not touched. Give the path of a file"
      case S_IFDIR: "there is a folder already; it was not touched. Give the path of a file"
      default: "there is a file already; it was not touched" + instead
      }
    return Failure(.exists, message, path: path)
  }

  /// The uppermost folder on the way to an absolute path that is not there; nil when none is missing.
  static func missingFolder(of path: String) -> String? {
    var missing: String?
    var folder = (path as NSString).deletingLastPathComponent
    var status = stat()
    // One that can't be looked at may be there.
    while unsafe lstat(folder, &status) != 0, errno == ENOENT, !folder.isEmpty {
      missing = folder
      folder = (folder as NSString).deletingLastPathComponent
    }
    return missing
  }
}

/// The environment of the process.
enum Environment {
  /// A variable that is set and not empty.
  static func value(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
  }
}
