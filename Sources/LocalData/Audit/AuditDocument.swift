internal import FoundationEssentials
internal import StorageCore

/// A report as JSON, as docs/localdata-catalog.md describes it.
struct AuditDocument: Codable, Sendable {
  enum Kind: String, Codable { case catalog, audit }

  struct Key: Codable {
    var catalog: String
    var name: String
    var domain: DomainText
    var security: SecurityText
    /// For people and filters; `security` contains the same information.
    var plaintext: Bool
    var serializer: String
    var valueType: String
    var owner: String
    var description: String
    var availability: AvailabilityText
    var sync: String
    var state: StorageAuditEntry.State?
    var place: String?
    var protection: String?
    var size: Int?
    var modified: String?
    var modifiedOf: StorageAuditEntry.TimeOrigin?
  }

  /// The schema version, which is read first.
  struct Version: Codable { var schema: Int }

  var schema: Int
  var kind: Kind
  var application: String?
  var configuration: AuditConfiguration?
  var keys: [Key]
  var findings: [StorageAuditFinding]

  init(_ report: StorageAuditReport) {
    schema = StorageAuditReport.schemaVersion
    kind = report.isLive ? .audit : .catalog
    application = report.applicationID
    configuration = report.configuration
    keys = report.keys.map { Key($0) }
    findings = report.findings
  }

  /// The size of the largest catalog that is read, in bytes.
  static let sizeLimit = 1 << 24

  /// Reads the declarations of a report.
  ///
  /// - Throws: `invalid` if the data is not a report, `unsupported` for a report of a later
  ///   release.
  init(reading data: Data) throws(StorageError) {
    guard data.count <= Self.sizeLimit else {
      throw StorageError(.invalid, "a catalog has at most 16 MiB")
    }
    do {
      let decoder = JSONDecoder()
      let version = try decoder.decode(Version.self, from: data).schema
      guard version == StorageAuditReport.schemaVersion else {
        throw StorageError(
          .unsupported,
          "the catalog has the schema version \(version), and this release reads "
            + "\(StorageAuditReport.schemaVersion)")
      }
      self = try decoder.decode(Self.self, from: data)
    } catch let error as StorageError {
      throw error
    } catch {
      throw StorageError(
        .invalid, "this is not a catalog of LocalData: \(CodableCoding.reason(error))")
    }
  }

  /// The JSON text, with sorted members and a line break at the end.
  var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      return AuditText.json(String(decoding: try encoder.encode(self), as: UTF8.self)) + "\n"
    } catch {
      preconditionFailure("text and whole numbers can be encoded")
    }
  }
}

extension AuditDocument.Key {
  init(_ entry: StorageAuditEntry) {
    catalog = entry.catalog
    name = entry.key.name
    domain = DomainText(entry.key.domain)
    security = SecurityText(entry.key.security)
    plaintext = entry.isPlaintext
    serializer = entry.key.serializer
    valueType = entry.key.valueType
    owner = entry.key.owner
    description = entry.key.description
    availability = AvailabilityText(entry.key.availability)
    sync = entry.key.syncPolicy.rawValue
    state = entry.state
    place = entry.place
    protection = entry.protection
    size = entry.size
    modified = entry.modified.map { AuditText.time($0) }
    modifiedOf = entry.modifiedOf
  }

  /// The declaration of the key.
  ///
  /// - Throws: `invalid`.
  func entry() throws(StorageError) -> StorageAuditEntry {
    guard let sync = SyncPolicy(rawValue: sync) else {
      throw StorageError(.invalid, "the catalog has an unknown sync policy", key: name)
    }
    guard domain.isPossible else {
      throw StorageError(
        .invalid,
        "the catalog has a folder that is not documents, caches or an absolute path", key: name)
    }
    return StorageAuditEntry(
      catalog: catalog,
      key: StorageKeyDescriptor(
        name: name, domain: domain.domain, security: try security.policy(),
        serializer: serializer, valueType: valueType, owner: owner, description: description,
        availability: availability.availability, syncPolicy: sync))
  }
}
