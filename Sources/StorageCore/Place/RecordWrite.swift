public import CryptoCore

/// One write of a commit.
public struct RecordWrite: Sendable {
  /// What must hold for the commit to take place.
  public enum Condition: Hashable, Sendable {
    /// Nothing.
    case always
    /// There is no record under the name.
    case absent
    /// The record under the name is these bytes.
    case equals([UInt8])
  }

  /// The name to write under.
  public let name: NameHash
  /// The record to store, or nil to remove the record.
  public let record: [UInt8]?
  /// What must hold for the whole commit to take place.
  public let condition: Condition
  /// Whether this only checks its condition: nothing is written, and no change is reported.
  ///
  /// `record` is what the condition asks for. A place that writes it nevertheless wastes time and
  /// reports a change that is none; it does no other harm.
  public let isCheck: Bool
  /// What `record` adds to a manifest, once it was hashed.
  package private(set) var share: RecordShare?

  /// A write of `record`, or a removal when `record` is nil.
  public init(_ record: [UInt8]?, for name: NameHash, if condition: Condition = .always) {
    self.init(record, name, condition, isCheck: false)
  }

  private init(_ record: [UInt8]?, _ name: NameHash, _ condition: Condition, isCheck: Bool) {
    self.name = name
    self.record = record
    self.condition = condition
    self.isCheck = isCheck
  }

  /// A check: the commit takes place only if `record` is stored, or if no record is when it is nil.
  public static func check(_ record: [UInt8]?, for name: NameHash) -> RecordWrite {
    RecordWrite(record, name, record.map { .equals($0) } ?? .absent, isCheck: true)
  }

  /// Hashes the record for the manifest, if there is a record to write.
  ///
  /// - Throws: `StorageError` when it can't be hashed.
  package mutating func hash(under keys: ManifestKeys) throws(StorageError) {
    guard let record, !isCheck else { return }
    share = try RecordShare(of: record, name, keys)
  }

  /// Whether the condition holds for the record that is there now.
  @inline(__always)
  public func isAllowed(over current: [UInt8]?) -> Bool {
    switch condition {
    case .always: true
    case .absent: current == nil
    case .equals(let expected): current == expected
    }
  }
}

/// The result of a commit.
public enum CommitOutcome: Hashable, Sendable {
  /// All writes were made.
  case committed
  /// A condition did not hold; nothing was written.
  case conditionFailed
  /// The header is not that of the given version; nothing was written.
  case headerChanged
}
