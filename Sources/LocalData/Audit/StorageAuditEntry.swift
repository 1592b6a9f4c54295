public import struct FoundationEssentials.Date

/// The declaration of a key and, in a live report, the state of its stored value.
public struct StorageAuditEntry: Hashable, Sendable {
  /// The state of a declared key's value.
  public enum State: String, Hashable, Sendable, Codable, CaseIterable {
    /// Nothing is stored.
    case absent
    /// A value is stored, and it opens.
    case present
    /// A value is stored, but sealed under material that the audit did not have: a passcode's or a
    /// provider's.
    case unopened
    /// A value is stored at another place than declared.
    case elsewhere
    /// A value is stored, and it can't be read.
    case unreadable
    /// The state can't be determined.
    case unknown
    /// The key is for other machines than this one.
    case otherMachine
  }

  /// Which file a modification time belongs to.
  public enum TimeOrigin: String, Hashable, Sendable, Codable {
    /// The value's own file.
    case value
    /// The file of the store, whose last change may be for another value.
    case store
  }

  /// The name of the catalog.
  public let catalog: String
  /// The declaration of the key.
  public let key: StorageKeyDescriptor
  /// The state; nil in a static report.
  public internal(set) var state: State?
  /// The place of the value; nil in a static report.
  public internal(set) var place: String?
  /// How the stored value is protected, in words; nil if there is none.
  public internal(set) var protection: String?
  /// The number of stored bytes, including those that sealing adds; nil if there is no value.
  public internal(set) var size: Int?
  /// When the file that holds the value was last changed; nil if there is none.
  public internal(set) var modified: Date?
  /// Whether ``modified`` is the time of the value's own file or of its store's file.
  public internal(set) var modifiedOf: TimeOrigin?

  init(catalog: String, key: StorageKeyDescriptor) {
    self.catalog = catalog
    self.key = key
  }

  /// Whether the key declares that its value is stored in plaintext.
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
