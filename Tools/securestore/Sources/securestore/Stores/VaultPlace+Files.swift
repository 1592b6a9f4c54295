internal import Foundation
internal import VaultBackend

/// A vault that is the index of a sealed folder.
extension VaultPlace {
  /// Whether the vault has the name of an index.
  ///
  /// Nothing else tells it: a folder of small values has no other file.
  var isIndex: Bool { Path.name(of: path) == Self.indexName }
  static let indexName = "index.vault"

  /// Whether the vault is an index and its folder has files.
  var isIndexOfFiles: Bool {
    get throws {
      guard isIndex else { return false }
      let blobs = (path as NSString).deletingLastPathComponent + "/blobs"
      do {
        return try !FileManager.default.contentsOfDirectory(atPath: blobs).isEmpty
      } catch CocoaError.fileReadNoSuchFile {
        return false
      } catch {
        throw Failure(listing: blobs, error as NSError)
      }
    }
  }

  /// Refuses to create an index in a folder of files without one: it would know none of the files
  /// and hide the loss.
  func requireNoOrphans() throws {
    guard try isIndexOfFiles else { return }
    throw Failure(
      .damaged,
      "the index of this sealed folder is gone, but its files still exist, and nothing else opens them: "
        + "restore a backup with files restore, or give a new folder another path", path: path)
  }

  /// Refuses an index, for commands that change values.
  ///
  /// The values of an index say where files are; only the `files` commands may change them.
  static func requireNoIndex(_ path: String) throws {
    guard Path.name(of: path) != indexName else {
      throw Failure(
        .usage,
        "this is the index of a sealed folder; change its values with the commands of files",
        path: path)
    }
  }

  /// The vault, for commands that change values.
  func openForValues(_ options: KeyOptions) throws -> VaultStorage {
    try Self.requireNoIndex(path)
    return try open(options)
  }
}
