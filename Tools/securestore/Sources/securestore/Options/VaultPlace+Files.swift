internal import Foundation
internal import VaultBackend

/// A vault that is the index of a sealed folder, by its name and what lies beside it.
extension VaultPlace {
  /// Whether it is, and the folder has files.
  var isIndexOfFiles: Bool {
    get throws {
      guard Path.name(of: path) == "index.vault" else { return false }
      let blobs = (path as NSString).deletingLastPathComponent + "/blobs"
      do {
        return try !FileManager.default.contentsOfDirectory(atPath: blobs).isEmpty
      } catch CocoaError.fileReadNoSuchFile {
        return false
      }
    }
  }

  /// Refuses a folder whose index is gone: a new one would hide that, and knows none of its files.
  func requireNoOrphans() throws {
    guard try isIndexOfFiles else { return }
    throw Failure(
      .damaged,
      "the index of this sealed folder is gone, and its files are still there, which nothing else opens: "
        + "put a backup back with files restore, or give a new folder another path", path: path)
  }

  /// The vault, for commands that change values.
  ///
  /// Those of an index say where files are, and are changed by the commands of `files` alone.
  func openForValues(_ options: KeyOptions) throws -> VaultStorage {
    guard try !isIndexOfFiles else {
      throw Failure(
        .usage,
        "this is the index of a sealed folder; change its values with the commands of files",
        path: path)
    }
    return try open(options)
  }
}
