public import StorageCore
internal import VaultBackend

public import struct Foundation.Data
public import struct Foundation.URL

/// What an application declares, as it exported that: for who audits its data without running it.
///
/// The file is ``StorageAuditReport/json``, of ``StorageRouter/catalogReport()`` or of a catalog alone, or of
/// a former audit. docs/localdata-catalog.md describes it.
public struct StorageCatalogFile: Sendable {
  /// The application's id; nil in a report of a catalog alone.
  public let applicationID: String?
  /// What the keys declare.
  public let keys: [StorageKeyDescriptor]
  private let entries: [StorageAuditEntry]
  private let configuration: AuditConfiguration?

  /// Reads a catalog.
  ///
  /// - Parameter json: at most 16 MiB.
  /// - Throws: `StorageError`: `invalid` for what is no catalog, `unsupported` for one of a later release.
  public init(json: Data) throws(StorageError) {
    let document = try AuditDocument(reading: json)
    applicationID = document.application
    configuration = document.configuration
    var entries: [StorageAuditEntry] = []
    for key in document.keys { entries.append(try key.entry()) }
    self.entries = entries.sorted()
    keys = self.entries.map(\.key)
  }

  /// Compares what is declared with what is stored, as ``StorageRouter/audit()`` does.
  ///
  /// Vaults and sealed folders are opened read-only. No provider and no passcode is asked. Blocks.
  ///
  /// - Parameters:
  ///   - applicationID: whose data it is; nil is that of the file.
  ///   - keySource: what opens its stores.
  ///   - folder: the folder that holds all of its places, where it gave its router one; nil for the
  ///     standard places.
  /// - Returns: the live report.
  /// - Throws: `StorageError`: `invalid` when there is no id, or it can't be one.
  public func audit(
    applicationID: String? = nil, keySource: KeySource, folder: URL? = nil
  ) throws(StorageError) -> StorageAuditReport {
    guard let id = applicationID ?? self.applicationID else {
      throw StorageError(
        .invalid, "the catalog does not say which application it is of; give its id")
    }
    try SecureStorage.validate(id)
    let root: String? = if let folder { try PathText.absolute(folder) } else { nil }
    let places = Places(
      Locations(application: { () throws(StorageError) in id }, root: root), keySource,
      access: .readOnly)
    let configuration = configuration ?? AuditConfiguration()
    var audit = Audit(places, configuration)
    audit.run(entries)
    return StorageAuditReport(
      applicationID: id, isLive: true, keys: audit.entries, findings: audit.findings,
      configuration: configuration)
  }
}
