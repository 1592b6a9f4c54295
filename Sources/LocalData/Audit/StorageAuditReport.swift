/// What an application keeps, for a person who reviews it: without a value.
///
/// A static report says what the keys declare, and opens nothing:
///
///     print(StorageAuditReport.renderText(for: AppStorageCatalog.self))
///
/// A live one compares that with what is stored: see ``StorageRouter/audit()``. The same state gives the
/// same bytes, in each form: everything is in order, and the time of the audit is not in it.
public struct StorageAuditReport: Hashable, Sendable {
  /// The version of the form of ``json``; docs/localdata-catalog.md describes it.
  public static let schemaVersion = 1

  /// The application's id; nil in a report of a catalog alone.
  public let applicationID: String?
  /// Whether it says what is stored, and not only what is declared.
  public let isLive: Bool
  /// What the keys declare and, in a live report, what is there: by domain and name.
  public let keys: [StorageAuditEntry]
  /// What is not as it is declared, or as it should be: by place and name.
  public let findings: [StorageAuditFinding]
  /// The configuration that it was made under; nil in a report of a catalog alone.
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

  /// What the keys of a list declare; nothing is opened.
  ///
  /// - Parameters:
  ///   - keys: the keys.
  ///   - catalog: what the list is called.
  public init(of keys: [AnyStorageKey], catalog: String) {
    self.init(
      isLive: false, keys: keys.map { StorageAuditEntry(catalog: catalog, key: $0.descriptor) },
      findings: StorageAuditFinding.ofDeclarations(keys.map(\.descriptor)))
  }

  /// What the keys of a catalog declare; nothing is opened.
  public init<Catalog: StorageKeyCatalog>(for catalog: Catalog.Type) {
    self.init(of: Catalog.allKeys, catalog: "\(Catalog.self)")
  }

  /// The static report of a catalog as text.
  public static func renderText<Catalog: StorageKeyCatalog>(for catalog: Catalog.Type) -> String {
    StorageAuditReport(for: catalog).text
  }

  /// The static report of a catalog as JSON, with a schema version.
  ///
  /// `securestore audit` reads it; ``StorageRouter/catalogReport()`` gives one that has the configuration
  /// as well.
  public static func renderJSON<Catalog: StorageKeyCatalog>(for catalog: Catalog.Type) -> String {
    StorageAuditReport(for: catalog).json
  }

  /// The static report of a catalog as a page that needs nothing else: no script and no network.
  public static func renderHTML<Catalog: StorageKeyCatalog>(for catalog: Catalog.Type) -> String {
    StorageAuditReport(for: catalog).html
  }
}
