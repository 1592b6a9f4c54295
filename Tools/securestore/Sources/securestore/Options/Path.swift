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
  ///
  /// - Throws: `Failure` when that can't be known, as of a folder that may not be entered.
  static func isThere(_ path: String) throws -> Bool {
    var status = stat()
    guard unsafe lstat(path, &status) != 0 else { return true }
    guard errno == ENOENT || errno == ENOTDIR else {
      throw Failure(system: "look for the file", path: path, number: errno)
    }
    return false
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
      case S_IFLNK: "there is a link already; it was not touched. Give another path"
      case S_IFDIR: "there is a folder already; it was not touched. Give another path"
      default: "there is a file already; it was not touched" + instead
      }
    return Failure(.exists, message, path: path)
  }

  /// Whether a file is a vault by what SQLite has at its head, or has nothing in it: a key file, or
  /// what somebody else made, is neither.
  static func isVaultOrEmpty(_ path: String) throws -> Bool {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
    let descriptor = unsafe open(path, flags)
    guard descriptor >= 0 else {
      guard errno != ELOOP else { return false }
      throw Failure(system: "look at the file", path: path, number: errno)
    }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return false
    }
    // https://sqlite.org/fileformat2.html, section 1.3: the application id, big-endian, is at 68.
    var head = [UInt8](repeating: 0, count: 72)
    guard unsafe pread(descriptor, &head, head.count, 0) == head.count else {
      return status.st_size == 0
    }
    return head.starts(with: "SQLite format 3\0".utf8) && head[68...].elementsEqual("SPSv".utf8)
  }

  /// Refuses a path to write to whose folder is not there: it was mistyped, or a disk is not mounted.
  static func requireFolder(of path: String, _ outcome: String) throws {
    guard let folder = missingFolder(of: path) else { return }
    throw Failure(
      .unavailable,
      "the folder is not there, and \(outcome); see that the path is right, or make the folder first",
      path: folder)
  }

  /// Whether the nearest folder on the way to a path belongs to this user.
  static func isFolderOurs(of path: String) -> Bool {
    let missing = missingFolder(of: path) ?? path
    var status = stat()
    return unsafe stat((missing as NSString).deletingLastPathComponent, &status) == 0
      && status.st_uid == geteuid()
  }

  /// Refuses `-` where a file is to be made: a pipe would get nothing, and the file look odd.
  static func requireName(_ path: String, instead: String) throws {
    guard path == "-" else { return }
    throw Failure(.usage, "- is no file\(instead); ./- is one of that name")
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
