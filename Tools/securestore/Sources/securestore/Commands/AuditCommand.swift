internal import ArgumentParser
internal import CryptoCore
internal import Foundation
internal import Glibc
internal import LocalData
internal import StorageCore
internal import VaultBackend

/// Compares an application's catalog of declared keys with the values that are stored.
struct AuditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "Compare what an application declares with what it has stored.",
    discussion: """
      The catalog is a file that the application exported: the JSON of its static report, or of an \
      earlier audit. Every value is opened, but none is shown or changed. Exits with 2 if there are \
      findings. Values under a passcode or under key material of a provider are not opened.
      """)

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

  @Option(
    help: ArgumentHelp("Also write the report as a page to this new file.", valueName: "file"),
    completion: .file(extensions: ["html"]))
  var html: String?

  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let file = try readCatalog()
    guard let application = app ?? file.applicationID else {
      throw Failure(
        .usage, "the catalog does not name its application; give --app", path: catalog)
    }
    if let html { try refuseOccupied(html) }
    let report = try file.audit(
      applicationID: application, keySource: try keySource(application),
      folder: folder.map { URL(fileURLWithPath: Path.absolute($0), isDirectory: true) })
    if let html { try write(report.html, to: Path.absolute(html)) }
    try Output.write(output.isJSON ? report.json : report.text)
    guard report.findings.isEmpty else {
      throw Failure(
        .unsound,
        "\(Printable.count(report.findings.count, "finding")); the report names each of them")
    }
    output.output.note("\(Printable.count(report.keys.count, "key")), no findings")
  }

  private func readCatalog() throws -> StorageCatalogFile {
    let path = Path.absolute(catalog)
    let bytes = try SecretInput.file(path, isSecret: false).array
    do throws(StorageError) {
      return try StorageCatalogFile(json: Data(bytes))
    } catch {
      guard error.code == .invalid else { throw error }
      throw Failure(.malformedInput, error.message, path: path)
    }
  }

  /// The source of the key option, or else the application's own source.
  private func keySource(_ application: String) throws -> KeySource {
    let place = try VaultPlace(
      path: nil, application: application, authenticationTag: nil, deadline: .seconds(5))
    guard let choice = try key.choice() else { return .automatic }
    return try choice.source(for: place, opening: place.path)
  }

  private func refuseOccupied(_ path: String) throws {
    try Path.requireName(path, instead: "; give the page a file name")
    try Path.requireFolder(of: Path.absolute(path), "nothing was written")
    if let occupation = Path.occupation(of: Path.absolute(path)) { throw occupation }
  }

  private func write(_ text: String, to path: String) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure(making: "file", path: path, number: errno) }
    defer { close(descriptor) }
    do {
      try Output.write(Array(text.utf8), to: descriptor, path: path)
    } catch {
      unsafe unlink(path)  // a partial report would look complete
      throw error
    }
  }
}
