internal import ArgumentParser
internal import CryptoCore
internal import Foundation
internal import LocalData
internal import StorageCore
internal import VaultBackend

/// The options that select the catalog of an application and its stores.
struct CatalogOptions: ParsableArguments {
  @Argument(help: "The catalog, in JSON.", completion: .file(extensions: ["json"]))
  var catalog: String

  @Option(
    help: ArgumentHelp(
      "The application's id, if it differs from the catalog's.", valueName: "id"))
  var app: String?

  @Option(
    help: ArgumentHelp(
      "The folder that holds all places of the application, if it chose one.", valueName: "path"),
    completion: .directory)
  var folder: String?

  @Option(help: CommandTimeout.help) var commandTimeout: CommandTimeout?

  /// A catalog that was read, and its application.
  struct Catalog {
    let file: StorageCatalogFile
    let application: String
    let folder: URL?
    /// Stands for the application's stores where options need a vault.
    let place: VaultPlace

    /// The source of the key option, or else the application's own source.
    func keySource(_ key: KeyOptions) throws -> KeySource {
      guard let choice = try key.choice() else { return .automatic }
      return try choice.source(for: place, opening: place.path)
    }

    /// A router of the application.
    func router(
      _ key: KeyOptions, _ access: StoreAccess = .readWrite,
      passcode: (@Sendable () throws -> SecureBytes?)? = nil
    ) throws -> StorageRouter {
      try file.router(
        applicationID: application, keySource: try keySource(key), folder: folder, access: access,
        passcode: passcode)
    }
  }

  func read() throws -> Catalog {
    let file = try readFile()
    guard let application = app ?? file.applicationID else {
      throw Failure(
        .usage, "the catalog does not name its application; give --app", path: catalog)
    }
    let place = try VaultPlace(
      path: nil, application: application, authenticationTag: nil, deadline: .seconds(5),
      commandTimeout: commandTimeout?.duration)
    return Catalog(
      file: file, application: application,
      folder: try folder.map { URL(fileURLWithPath: try Path.absolute($0), isDirectory: true) },
      place: place)
  }

  private func readFile() throws -> StorageCatalogFile {
    let path = try Path.absolute(catalog)
    let bytes = try SecretInput.file(path, isSecret: false).array
    do throws(StorageError) {
      return try StorageCatalogFile(json: Data(bytes))
    } catch {
      guard error.code == .invalid else { throw error }
      throw Failure(.malformedInput, error.message, path: path)
    }
  }
}
