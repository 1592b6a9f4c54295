public import StorageCore
internal import VaultBackend

public import struct FoundationEssentials.Data
public import struct FoundationEssentials.URL

/// The exported declarations of an application, for an audit of its data without running it.
///
/// The file is ``StorageAuditReport/json`` of ``StorageRouter/catalogReport()``, of a catalog
/// alone, or of an earlier audit. docs/localdata-catalog.md describes it.
public struct StorageCatalogFile: Sendable {
  /// The application's id; nil in a report of only a catalog.
  public let applicationID: String?
  /// The declarations of the keys.
  public let keys: [StorageKeyDescriptor]
  private let entries: [StorageAuditEntry]
  let configuration: AuditConfiguration?

  /// Reads a catalog.
  ///
  /// - Parameter json: at most 16 MiB.
  /// - Throws: `StorageError`: `invalid` if it is not a catalog, `unsupported` for one of a later
  ///   release.
  public init(json: Data) throws(StorageError) {
    let document = try AuditDocument(reading: json)
    applicationID = document.application
    configuration = document.configuration
    var entries: [StorageAuditEntry] = []
    for key in document.keys { entries.append(try key.entry()) }
    self.entries = entries.sorted()
    keys = self.entries.map(\.key)
  }

  /// Compares the declarations with the stored data, as ``StorageRouter/audit()`` does.
  ///
  /// Opens vaults and sealed folders read-only. Asks no provider and for no passcode. Blocks.
  ///
  /// - Parameters:
  ///   - applicationID: the application; nil means the id in the file.
  ///   - keySource: the source of the key of its stores.
  ///   - folder: the folder that holds all of its places, if its router was created with one; nil
  ///     for the standard places.
  /// - Returns: the live report.
  /// - Throws: `StorageError`: `invalid` if there is no id, or it is not a valid one.
  public func audit(
    applicationID: String? = nil, keySource: KeySource, folder: URL? = nil
  ) throws(StorageError) -> StorageAuditReport {
    let places = try core(applicationID, keySource, folder, access: .readOnly).places
    let configuration = configuration ?? AuditConfiguration()
    var audit = Audit(places, configuration)
    audit.run(entries)
    return StorageAuditReport(
      applicationID: try places.locations.application(), isLive: true, keys: audit.entries,
      findings: audit.findings,
      configuration: configuration)
  }
}
