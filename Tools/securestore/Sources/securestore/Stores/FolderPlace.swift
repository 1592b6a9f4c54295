internal import FileBackend
internal import Foundation
internal import StorageCore
internal import VaultBackend

/// A sealed folder that the operator named, and the vault in it.
struct FolderPlace {
  /// The absolute path of the folder.
  let path: String
  let index: VaultPlace

  /// The folder, which must exist: a command that only uses a folder never creates it.
  func open(_ options: KeyOptions, _ access: StoreAccess = .readWrite) throws -> SealedFolder {
    guard try Path.isThere(index.path) else {
      try index.requireNoOrphans()
      throw Failure(
        .unavailable,
        "there is no sealed folder; check the path, or create one with files init",
        path: index.path)
    }
    return folder(try index.keySource(options), access)
  }

  /// The folder, whether it exists or not.
  func folder(_ source: KeySource, _ access: StoreAccess = .readWrite) -> SealedFolder {
    SealedFolder(
      at: URL(fileURLWithPath: path, isDirectory: true), keySource: source, access: access,
      folderTrust: index.folderTrust, deadline: index.deadline)
  }
}
