internal import ArgumentParser
internal import FileBackend
internal import Foundation
internal import StorageCore
internal import VaultBackend

/// The options that select a sealed folder.
struct FolderOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The sealed folder.", valueName: "path"), completion: .directory)
  var folder: String?

  @Option(
    help: ArgumentHelp(
      "An application's id: selects its standard folder and its key.", valueName: "id"))
  var app: String?

  @Flag(
    help: "Accept a folder that a group of this user may write to, such as a container volume.")
  var groupFolder = false

  @Option(
    help: ArgumentHelp("How long to wait for other programs.", valueName: "seconds"))
  var wait = 5.0

  func validate() throws {
    guard wait >= 0, wait <= 86_400 else { throw ValidationError("--wait is 0 to 86400 seconds") }
  }

  /// The folder of the options; if both are missing, that of the variable SECURESTORE_APP.
  func place() throws -> FolderPlace {
    let id = folder == nil && app == nil ? Environment.value("SECURESTORE_APP") : app
    guard folder != nil || id != nil else {
      throw Failure(
        .usage,
        "say which folder: --folder PATH, or --app ID, or the variable SECURESTORE_APP")
    }
    let path =
      try folder.map { try Path.absolute($0) } ?? SealedFolder.standardPath(applicationID: id ?? "")
    return FolderPlace(
      path: path,
      index: try VaultPlace(
        path: path + "/index.vault", application: id, authenticationTag: nil,
        deadline: .milliseconds(Int64(wait * 1000)),
        folderTrust: groupFolder ? .processGroup : .owner))
  }
}

/// A sealed folder that the operator named, and the vault in it.
struct FolderPlace {
  /// The absolute path of the folder.
  let path: String
  let index: VaultPlace

  /// The folder, which must exist: a command that only uses a folder never creates it.
  func open(_ options: KeyOptions, _ access: VaultAccess = .readWrite) throws -> SealedFolder {
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
  func folder(_ source: KeySource, _ access: VaultAccess = .readWrite) -> SealedFolder {
    SealedFolder(
      at: URL(fileURLWithPath: path, isDirectory: true), keySource: source, access: access,
      folderTrust: index.folderTrust, deadline: index.deadline)
  }
}
