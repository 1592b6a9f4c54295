internal import ArgumentParser
internal import FileBackend
internal import Foundation

/// The options that select a store.
///
/// All commands on stores have this one group. In a debug build ArgumentParser checks each group four times for each
/// level that it is nested, which took most of a command's time.
struct StoreOptions: ParsableArguments {
  @Option(help: ArgumentHelp("A vault: its file.", valueName: "path"), completion: .file())
  var vault: String?

  @Option(help: ArgumentHelp("A sealed folder.", valueName: "path"), completion: .directory)
  var folder: String?

  @Option(
    help: ArgumentHelp(
      "A suite of sealed UserDefaults: its name, or the path of its file. The suite of @UserDefault has the "
        + "application's id as its name.", valueName: "name"),
    completion: .file(extensions: ["plist"]))
  var suite: String?

  @Option(
    name: .customLong("etcd"),
    help: ArgumentHelp(
      "A store in etcd: the addresses of its members, separated by commas, such as "
        + "https://10.0.0.5:2379.", valueName: "addresses"))
  var endpoints: String?

  @Option(
    help: ArgumentHelp(
      "A store in PostgreSQL: how libpq connects, such as \"host=db1,db2 dbname=shop\", without a password.",
      valueName: "connection"))
  var postgres: String?

  @Option(
    help: ArgumentHelp(
      "An application's id: selects its standard vault and its key.", valueName: "id"))
  var app: String?

  @Flag(
    name: .customLong("files"),
    help:
      "The application's standard sealed folder, instead of its vault; set by the commands of files."
  )
  var isOfFiles = false

  @Option(
    help: ArgumentHelp(
      "The authentication tag that the application seals its values with, if any.",
      valueName: "text"))
  var authenticationTag: String?

  @Flag(
    help: "Accept a folder that a group of this user may write to, such as a container volume.")
  var groupFolder = false

  @Option(help: ArgumentHelp("How long to wait for other programs.", valueName: "seconds"))
  var wait = 5.0

  @Option(help: CommandTimeout.help) var commandTimeout: CommandTimeout?

  @Option(
    help: ArgumentHelp("With --etcd: the store's name, such as /apps/shop.", valueName: "name"))
  var prefix: String?

  @Option(
    name: .customLong("etcd-ca"), help: "With --etcd: the certificate of the authority to trust.",
    completion: .file())
  var authority: String?

  @Option(
    name: .customLong("etcd-cert"), help: "With --etcd: the certificate to show.",
    completion: .file())
  var certificate: String?

  @Option(
    name: .customLong("etcd-key"), help: "With --etcd: the key of that certificate.",
    completion: .file())
  var certificateKey: String?

  @Option(
    name: .customLong("etcd-user"), help: ArgumentHelp("With --etcd: the user.", valueName: "name"))
  var user: String?

  @Option(
    name: .customLong("etcd-password-file"), help: "With --etcd: a file with the user's password.",
    completion: .file())
  var passwordFile: String?

  @Option(
    name: .customLong("store"),
    help: ArgumentHelp("With --postgres: the store's name, such as shop.", valueName: "name"))
  var storeName: String?

  @Option(
    help: ArgumentHelp(
      "With --postgres: the schema of the tables; default: securestore.", valueName: "name"))
  var schema: String?

  @Option(
    help: ArgumentHelp(
      "With --postgres: the program that prints the password, and its arguments, in one text.",
      valueName: "command"))
  var postgresPasswordCommand: String?

  func validate() throws {
    guard wait >= 0, wait <= 86_400 else { throw ValidationError("--wait is 0 to 86400 seconds") }
    let others = [prefix, authority, certificate, certificateKey, user, passwordFile]
    guard endpoints != nil || others.allSatisfy({ $0 == nil }) else {
      throw ValidationError("--prefix and the --etcd- options need --etcd ADDRESSES")
    }
    guard
      postgres != nil || [storeName, schema, postgresPasswordCommand].allSatisfy({ $0 == nil })
    else {
      throw ValidationError(
        "--store, --schema and --postgres-password-command need --postgres CONNECTION")
    }
    guard (certificate == nil) == (certificateKey == nil) else {
      throw ValidationError("give --etcd-cert and --etcd-key together")
    }
    guard (user == nil) == (passwordFile == nil) else {
      throw ValidationError("give --etcd-user and --etcd-password-file together")
    }
  }

  /// Whether the options or the environment name a store.
  var isGiven: Bool {
    [vault, folder, suite, endpoints, postgres, app].contains { $0 != nil }
      || ["SECURESTORE_VAULT", "SECURESTORE_APP"].contains { Environment.value($0) != nil }
  }

  var isOfFolder: Bool { folder != nil || isOfFiles }
  var tag: Data? { authenticationTag.map { Data($0.utf8) } }
  var deadline: Duration { .milliseconds(Int64(wait * 1000)) }

  /// The store that the options name.
  ///
  /// - Throws: `Failure` if they name none, or several.
  func place() throws -> any OperatedStore {
    guard [vault, folder, suite, endpoints, postgres].count(where: { $0 != nil }) < 2 else {
      throw Failure(.usage, "give one of --vault, --folder, --suite, --etcd and --postgres")
    }
    if isOfFolder { return try sealedFolder() }
    if let suite { return try SuitePlace(suite, self) }
    if let postgres {
      guard let storeName else {
        throw Failure(.usage, "say which store in PostgreSQL: --store NAME, such as shop")
      }
      return try PostgresPlace(postgres, storeName, self)
    }
    guard let endpoints else { return try namedVault() }
    guard let prefix else {
      throw Failure(.usage, "say which store in etcd: --prefix NAME, such as /apps/shop")
    }
    return try EtcdPlace(endpoints.split(separator: ",").map(String.init), prefix, self)
  }

  /// The vault that the options name, or the index of the sealed folder.
  func vaultPlace() throws -> VaultPlace {
    switch try place() {
    case let place as VaultPlace: return place
    case let place as FolderPlace: return place.index
    case let place: throw Failure(.usage, "this command is for a vault, not for \(place.kind)")
    }
  }

  /// The vault of the options; if both are missing, that of the environment.
  ///
  /// If one of the options is given, both variables are ignored: a key from the environment must
  /// not be used for a vault that was named on the command line.
  private func namedVault() throws -> VaultPlace {
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
      path: path, application: id, authenticationTag: tag, deadline: deadline,
      commandTimeout: commandTimeout?.duration, folderTrust: groupFolder ? .processGroup : .owner)
  }

  /// The sealed folder of the options; if none is named, that of the variable SECURESTORE_APP.
  func sealedFolder() throws -> FolderPlace {
    guard vault == nil, suite == nil, endpoints == nil, postgres == nil else {
      throw Failure(.usage, "the commands of files are for a sealed folder: give --folder or --app")
    }
    guard authenticationTag == nil else {
      throw Failure(.usage, "the values of a sealed folder have no --authentication-tag")
    }
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
        path: path + "/" + VaultPlace.indexName, application: id, authenticationTag: nil,
        deadline: deadline,
        commandTimeout: commandTimeout?.duration, folderTrust: groupFolder ? .processGroup : .owner)
    )
  }
}
