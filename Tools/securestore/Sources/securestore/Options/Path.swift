internal import CryptoCore
internal import Foundation
internal import Glibc
internal import StorageCore

/// Paths from the command line.
enum Path {
  /// The absolute path; links are not resolved.
  ///
  /// - Throws: `Failure` for a relative path if the working folder is gone or can't be read.
  static func absolute(_ path: String) throws -> String {
    guard !path.hasPrefix("/") else { return path }
    guard let folder = unsafe getcwd(nil, 0) else {
      let status: ExitStatus = errno == EACCES ? .denied : .unavailable
      throw Failure(
        status,
        "the path is relative, and the working folder was removed or can't be read; change to another "
          + "folder, or give an absolute path", path: path)
    }
    defer { unsafe free(folder) }
    guard let text = unsafe SystemText.exact(folder) else {
      throw Failure(
        .usage,
        "the path is relative, and the working folder's is not UTF-8; change to another folder, or give an "
          + "absolute path", path: path)
    }
    return text + "/" + path
  }

  /// The last component, as a vault records the name of a key file.
  ///
  /// A slash with a combining mark is one character and not a separator, but Foundation cuts there.
  static func name(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return path }
    return String(path[path.index(after: slash)...])
  }

  /// Whether anything exists at the path, a broken link included.
  ///
  /// - Throws: `Failure` if that can't be determined, for example in a folder without search
  ///   permission.
  static func isThere(_ path: String) throws -> Bool {
    var status = stat()
    guard unsafe lstat(path, &status) != 0 else { return true }
    guard errno == ENOENT || errno == ENOTDIR else {
      throw Failure(system: "look for the file", path: path, number: errno)
    }
    return false
  }

  /// Device and inode, which identify the file; nil if it does not exist.
  static func identity(_ path: String?) -> [UInt64]? {
    var status = stat()
    guard let path, unsafe stat(path, &status) == 0 else { return nil }
    return [UInt64(status.st_dev), UInt64(status.st_ino)]
  }

  /// Why nothing can be created at a path: something exists there; nil if nothing does.
  ///
  /// - Parameters:
  ///   - path: the path.
  ///   - instead: advice for the case of a file.
  /// - Returns: the failure to throw.
  static func occupation(of path: String, instead: String = "") -> Failure? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return nil }
    let message =
      switch status.st_mode & S_IFMT {
      case S_IFLNK where unsafe stat(path, &status) != 0:
        "a broken link is already there; it was not touched. Remove it, or give another path"
      case S_IFLNK: "a link is already there; it was not touched. Give another path"
      case S_IFDIR: "a folder is already there; it was not touched. Give another path"
      default: "a file is already there; it was not touched" + instead
      }
    return Failure(.exists, message, path: path)
  }

  /// Whether the file is empty or, by its SQLite header, a vault.
  ///
  /// A key file and other programs' files are neither.
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

  /// Refuses an output path whose folder does not exist.
  ///
  /// The path was mistyped, or its disk is not mounted.
  static func requireFolder(of path: String, _ outcome: String) throws {
    guard let folder = missingFolder(of: path) else { return }
    throw Failure(
      .unavailable,
      "the folder does not exist, and \(outcome); check the path, or create the folder first",
      path: folder)
  }

  /// Whether the nearest existing folder of a path belongs to this user.
  static func isFolderOurs(of path: String) -> Bool {
    let missing = missingFolder(of: path) ?? path
    var status = stat()
    return unsafe stat((missing as NSString).deletingLastPathComponent, &status) == 0
      && status.st_uid == geteuid()
  }

  /// Refuses to make a file or folder where only the privileges of root allow it, by the rule of the
  /// library: what root makes in another user's folder would lock that user out.
  ///
  /// Where the owner lets others write, root may make files as any other user.
  static func requireMaking(_ path: String) throws {
    guard let status = FileStatus.ofFolder(containing: path) else { return }
    try Folder.requireMaking(in: status, (path as NSString).deletingLastPathComponent)
  }

  /// Refuses `-` as an output file: the user may expect a pipe, and a file named - looks odd.
  static func requireName(_ path: String, instead: String) throws {
    guard path == "-" else { return }
    throw Failure(
      .usage,
      "- can't be used as a file name here\(instead); for a file that is really named -, write ./-")
  }

  /// The topmost missing folder of an absolute path; nil if none is missing.
  static func missingFolder(of path: String) -> String? {
    var missing: String?
    var folder = (path as NSString).deletingLastPathComponent
    var status = stat()
    // A folder that can't be looked at may exist.
    while unsafe lstat(folder, &status) != 0, errno == ENOENT, !folder.isEmpty {
      missing = folder
      folder = (folder as NSString).deletingLastPathComponent
    }
    return missing
  }

  /// Runs `body`, which makes the folders of a path where they are missing; if it fails, removes those that it has
  /// made, as far as nothing is in them.
  static func makingFolders<Result>(of path: String, _ body: () throws -> Result) throws -> Result {
    let topmost = missingFolder(of: path)
    do {
      return try body()
    } catch {
      var folder = (path as NSString).deletingLastPathComponent
      while let topmost, folder.utf8.count >= topmost.utf8.count, unsafe rmdir(folder) == 0 {
        folder = (folder as NSString).deletingLastPathComponent
      }
      throw error
    }
  }
}

/// The environment of the process.
enum Environment {
  /// The value of a variable that is set and not empty.
  ///
  /// ``requireText()`` has refused those that can't be said.
  static func value(_ name: String) -> String? {
    guard let value = unsafe getenv(name), let text = unsafe SystemText.exact(value) else {
      return nil
    }
    return text.isEmpty ? nil : text
  }

  /// The variables that say where something is or how it is used.
  private static let used = [
    "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
    "STATE_DIRECTORY", "CACHE_DIRECTORY", "CREDENTIALS_DIRECTORY", "DBUS_SESSION_BUS_ADDRESS",
    "SECURESTORE_VAULT", "SECURESTORE_APP", "SECURESTORE_KEY_FILE", "SECURESTORE_MOUNTED_SECRET",
    "SECURESTORE_KEY_COMMAND",
    "SECURESTORE_ALLOW_PLAIN_BUS", "VISUAL", "EDITOR",
  ]

  /// Refuses a variable that is used here and is not UTF-8.
  static func requireText() throws {
    for name in used {
      guard let value = unsafe getenv(name), unsafe SystemText.exact(value) == nil else { continue }
      throw Failure(
        .usage,
        "the environment variable \(name) has bytes that are not UTF-8; nothing was done")
    }
  }
}
