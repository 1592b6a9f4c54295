internal import Glibc
internal import StorageCore

/// Names of suites and the paths that follow from them.
enum SuiteName {
  /// With this limit the name and our longest suffix fit into a file name (255 bytes).
  static let limit = 200
  /// What follows the name in the name of a suite's file.
  static let ending = ".secure.plist"

  /// - Throws: `invalid` for a name that can't be part of a file name.
  static func validate(_ name: String) throws(StorageError) {
    let bytes = name.utf8
    guard !bytes.isEmpty, bytes.count <= limit, !bytes.contains(UInt8(ascii: "/")),
      !bytes.contains(0), name != ".", name != ".."
    else {
      throw StorageError(
        .invalid,
        "the suite name is not allowed: use 1 to \(limit) bytes without slashes and zero bytes, and not "
          + "\".\" or \"..\"")
    }
  }

  /// The file of a suite in `folder`; the same text for every spelling of the folder's path.
  ///
  /// Foundation on Linux looks for the plist of `UserDefaults(suiteName: "<name>.secure")` in
  /// `$XDG_CONFIG_HOME`, else in `.config` in the home folder.
  static func path(of name: String, in folder: String) throws(StorageError) -> String {
    try validate(name)
    return canonical(folder) + "/" + name + ending
  }

  /// The path with symbolic links resolved; the part that doesn't exist yet is kept as it is.
  private static func canonical(_ folder: String) -> String {
    if let resolved = unsafe realpath(folder, nil) {
      defer { unsafe free(resolved) }
      // A path that can't be said otherwise stays as it was given.
      guard let path = unsafe SystemText.exact(resolved) else { return folder }
      return path == "/" ? "" : path
    }
    let parent = FilePath.folder(of: folder)
    guard parent != folder, folder.hasPrefix("/") else { return folder }
    return canonical(parent) + "/" + FilePath.name(of: folder)
  }
}
