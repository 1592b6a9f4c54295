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

  @OptionGroup(title: "Application") var options: CatalogOptions

  @Option(
    help: ArgumentHelp("Also write the report as a page to this new file.", valueName: "file"),
    completion: .file(extensions: ["html"]))
  var html: String?

  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let catalog = try options.read()
    if let html { try refuseOccupied(html) }
    if let folder = catalog.folder, try !Path.isThere(folder.path) {
      throw Failure(
        .unavailable, "there is no such folder, so nothing was audited; check the path",
        path: folder.path)
    }
    let report = try catalog.file.audit(
      applicationID: catalog.application, keySource: try catalog.keySource(key),
      folder: catalog.folder)
    if let html {
      let page = Array(AuditPage(report: report).html.utf8)
      let path = try Path.absolute(html)
      try FileCopy.make(path) { try Output.write(page, to: $0, path: path) }
    }
    try Output.write(output.isJSON ? report.json : report.text)
    guard report.findings.isEmpty else {
      throw Failure(
        .unsound,
        "\(Printable.count(report.findings.count, "finding")); the report names each of them")
    }
    output.output.note("\(Printable.count(report.keys.count, "key")), no findings")
  }

  private func refuseOccupied(_ path: String) throws {
    try Path.requireName(path, instead: "; give the page a file name")
    try Path.requireFolder(of: Path.absolute(path), "nothing was written")
    if let occupation = Path.occupation(of: try Path.absolute(path)) { throw occupation }
    try Path.requireMaking(Path.absolute(path))
  }
}
