internal import ArgumentParser
internal import Foundation
internal import StorageCore
internal import VaultBackend

/// The options that select a vault.
struct VaultOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The vault's file.", valueName: "path"), completion: .file())
  var vault: String?

  @Option(
    help: ArgumentHelp(
      "An application's id: selects its standard vault and its key.", valueName: "id"))
  var app: String?

  @Option(
    help: ArgumentHelp(
      "The authentication tag that the application seals its values with, if any.",
      valueName: "text"))
  var authenticationTag: String?

  @Flag(
    help: "Accept a folder that a group of this user may write to, such as a container volume.")
  var groupFolder = false

  @Option(
    help: ArgumentHelp("How long to wait for other programs.", valueName: "seconds"))
  var wait = 5.0

  func validate() throws {
    guard wait >= 0, wait <= 86_400 else { throw ValidationError("--wait is 0 to 86400 seconds") }
  }

  /// The vault of the options; if both are missing, that of the environment.
  ///
  /// If one of the options is given, both variables are ignored: a key from the environment must
  /// not be used for a vault that was named on the command line.
  func place() throws -> VaultPlace {
    let (path, id) =
      vault == nil && app == nil
      ? (Environment.value("SECURESTORE_VAULT"), Environment.value("SECURESTORE_APP"))
      : (vault, app)
    guard path != nil || id != nil else {
      throw Failure(
        .usage,
        "say which vault: --vault PATH, or --app ID, or the variable SECURESTORE_VAULT or "
          + "SECURESTORE_APP")
    }
    return try VaultPlace(
      path: path, application: id, authenticationTag: authenticationTag.map { Data($0.utf8) },
      deadline: .milliseconds(Int64(wait * 1000)),
      folderTrust: groupFolder ? .processGroup : .owner)
  }
}
