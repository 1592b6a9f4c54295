internal import FoundationEssentials
internal import StorageCore

/// The folder that the programs of a group share; it belongs to one user.
struct GroupContainer: Sendable {
  let id: String
  let path: String
  /// The group's folder, if the configuration names it.
  let root: String?

  /// Determines the folder, without accessing it.
  ///
  /// - Throws: `invalidAppGroupIdentifier`.
  init(
    _ declared: String?, _ configuration: StorageConfiguration, _ locations: Locations
  ) throws(StorageError) {
    guard let id = declared ?? configuration.defaultAppGroupIdentifier else {
      throw StorageError(
        .invalidAppGroupIdentifier,
        "the key names no group, and the configuration has no defaultAppGroupIdentifier; set one of "
          + "them")
    }
    guard Self.isValid(id) else {
      throw StorageError(
        .invalidAppGroupIdentifier,
        "the id of a group must have 1 to 128 letters, digits, dots, - and _, and begin with a letter or a "
          + "digit")
    }
    self.id = id
    guard let folder = configuration.groupFolders[id] else {
      path = try locations.groups() + "/" + id
      root = nil
      return
    }
    path = try PathText.absolute(folder)
    root = path
  }

  static func isValid(_ id: String) -> Bool {
    guard (1...128).contains(id.utf8.count), let first = id.utf8.first else { return false }
    func isLetterOrDigit(_ byte: UInt8) -> Bool {
      switch byte {
      case 48...57, 65...90, 97...122: true
      default: false
      }
    }
    return isLetterOrDigit(first)
      && id.utf8.allSatisfy { isLetterOrDigit($0) || [45, 46, 95].contains($0) }
  }
}

/// Paths of URLs.
enum PathText {
  /// The path of an absolute file URL, without a slash at its end.
  static func absolute(_ url: URL) throws(StorageError) -> String {
    let path = url.isFileURL ? url.standardizedFileURL.path(percentEncoded: false) : ""
    guard path.hasPrefix("/"), path.utf8.count <= 700 else {
      throw StorageError(
        .invalid, "a folder must be an absolute file URL whose path has at most 700 bytes")
    }
    return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}
