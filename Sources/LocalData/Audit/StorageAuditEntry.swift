public import struct Foundation.Date

/// What a key declares and, in a live report, what is stored of it.
public struct StorageAuditEntry: Hashable, Sendable {
  /// What there is of a declared key.
  public enum State: String, Hashable, Sendable, Codable, CaseIterable {
    /// Nothing is stored.
    case absent
    /// There is a value, and it opens.
    case present
    /// There is a value, sealed under material that was not asked for: a passcode's, or a provider's
    /// that the audit has not.
    case unopened
    /// There is a value at another place than declared.
    case elsewhere
    /// There is something, and it can't be read.
    case unreadable
    /// It can't be known.
    case unknown
    /// The key is for other machines than this one.
    case otherMachine
  }

  /// What a time is the time of.
  public enum TimeOrigin: String, Hashable, Sendable, Codable {
    /// The value's own file.
    case value
    /// The file of the store, which was last changed for this value or for another.
    case store
  }

  /// The name of the catalog.
  public let catalog: String
  /// What the key declares.
  public let key: StorageKeyDescriptor
  /// What there is; nil in a static report.
  public internal(set) var state: State?
  /// The place of the value; nil in a static report.
  public internal(set) var place: String?
  /// How the value that is there is protected, in words; nil when there is none.
  public internal(set) var protection: String?
  /// The bytes that are stored, with what sealing adds; nil when there are none.
  public internal(set) var size: Int?
  /// When the file that the value is in was last changed; nil when there is none.
  public internal(set) var modified: Date?
  /// Whether that is the value's own file.
  public internal(set) var modifiedOf: TimeOrigin?

  init(catalog: String, key: StorageKeyDescriptor) {
    self.catalog = catalog
    self.key = key
  }

  /// Whether the value is stored as it is, by the key's own declaration.
  public var isPlaintext: Bool { key.security == .none }
}

extension StorageAuditEntry: Comparable {
  /// By domain, name, catalog and type.
  public static func < (left: StorageAuditEntry, right: StorageAuditEntry) -> Bool {
    left.order.lexicographicallyPrecedes(right.order) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private var order: [String] {
    [key.domain.description, key.name, catalog, key.valueType, key.owner, key.description]
  }
}
