/// What an application stores, for people who review it; contains no value.
///
/// A static report lists the declarations of the keys, and opens nothing:
///
///     print(StorageAuditReport(for: AppStorageCatalog.self))
///
/// A live report compares them with the stored data: see ``StorageRouter/audit()``. The same state
/// gives the same bytes in each form: everything is sorted, and the time of the audit is not
/// included.
public struct StorageAuditReport: Hashable, Sendable {
  /// The schema version of ``json``; docs/localdata-catalog.md describes it.
  package static let schemaVersion = 1

  /// The application's id; nil in a report of only a catalog.
  public let applicationID: String?
  /// Whether the report is live: it includes stored data, not only declarations.
  public let isLive: Bool
  /// The declarations of the keys and, in a live report, their stored values, by domain and name.
  public let keys: [StorageAuditEntry]
  /// The differences between declarations and storage, and other problems, by place and name.
  public let findings: [StorageAuditFinding]
  /// The configuration behind the report; nil in a report of only a catalog.
  let configuration: AuditConfiguration?

  init(
    applicationID: String? = nil, isLive: Bool, keys: [StorageAuditEntry],
    findings: [StorageAuditFinding], configuration: AuditConfiguration? = nil
  ) {
    self.applicationID = applicationID
    self.isLive = isLive
    self.keys = keys.sorted()
    self.findings = Set(findings).sorted()
    self.configuration = configuration
  }

  /// Creates a static report of a list of keys; opens nothing.
  ///
  /// - Parameters:
  ///   - keys: the keys.
  ///   - catalog: the name of the list.
  public init(of keys: [AnyStorageKey], catalog: String) {
    self.init(
      isLive: false, keys: keys.map { StorageAuditEntry(catalog: catalog, key: $0.descriptor) },
      findings: StorageAuditFinding.ofDeclarations(keys.map(\.descriptor)))
  }

  /// Creates a static report of a catalog; opens nothing.
  public init<Catalog: StorageKeyCatalog>(for catalog: Catalog.Type) {
    self.init(of: Catalog.allKeys, catalog: "\(Catalog.self)")
  }
}
