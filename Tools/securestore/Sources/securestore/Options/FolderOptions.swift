internal import ArgumentParser
internal import FileBackend
internal import Foundation
internal import StorageCore
internal import VaultBackend

/// Which sealed folder is meant.
struct FolderOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The sealed folder.", valueName: "path"), completion: .directory)
  var folder: String?

  @Option(
    help: ArgumentHelp(
      "An application's id: its standard folder, and the key that it uses.", valueName: "id"))
  var app: String?

  @Flag(
    help: "Take a folder that a group of this user may write to, as a volume of a container.")
  var groupFolder = false

  @Option(
    help: ArgumentHelp("How long to wait for other programs.", valueName: "seconds"))
  var wait = 5.0

  func validate() throws {
    guard wait >= 0, wait <= 86_400 else { throw ValidationError("--wait is 0 to 86400 seconds") }
  }

  /// The options and, where neither of the two is given, the variable of the application.
  func place() throws -> FolderPlace {
    let id = folder == nil && app == nil ? Environment.value("SECURESTORE_APP") : app
    guard folder != nil || id != nil else {
      throw Failure(
        .usage,
        "say which folder: --folder PATH, or --app ID, or the variable SECURESTORE_APP")
    }
    let path =
      try folder.map { Path.absolute($0) } ?? SealedFolder.standardPath(applicationID: id ?? "")
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

  /// The folder, which must be there: it is never made by a command that only uses it.
  func open(_ options: KeyOptions, _ access: VaultAccess = .readWrite) throws -> SealedFolder {
    guard try Path.isThere(index.path) else {
      try index.requireNoOrphans()
      throw Failure(
        .unavailable,
        "there is no sealed folder; see that the path is right, or make one with files init",
        path: index.path)
    }
    return folder(try index.keySource(options), access)
  }

  /// The folder, there or not.
  func folder(_ source: KeySource, _ access: VaultAccess = .readWrite) -> SealedFolder {
    SealedFolder(
      at: URL(fileURLWithPath: path, isDirectory: true), keySource: source, access: access,
      folderTrust: index.folderTrust, deadline: index.deadline)
  }
}
