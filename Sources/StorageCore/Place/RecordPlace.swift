public import CryptoCore

/// A delegate that keeps a store's header beside its records, and commits against it.
///
/// The header is a few hundred bytes that StorageCore writes: slots and keyset, see
/// docs/file-format.md. Conforming gives a backend all of the key handling: slots, key sources,
/// rotation, recovery. The other writes of `StorageDelegate` come for free from
/// ``commit(_:headerVersion:)-([RecordWrite],_)``.
public protocol KeysetDelegate: EnumerableDelegate {
  /// What tells this place from others that the same key source may open, as the name of a suite.
  ///
  /// The keyset is bound to it: a store that is copied whole over another one does not open. Empty
  /// unless said otherwise, and then nothing is bound.
  ///
  /// - Throws: `StorageError` when that can't be known.
  func place() throws(StorageError) -> String

  /// The file or folder that the store is in, which errors about its keys name.
  ///
  /// Nil unless said otherwise: there is none, or it can't be known.
  var location: String? { get }

  /// The header and its version, or nil for the header when there is none.
  ///
  /// The version is a number of this process: it changes whenever the header does, whoever
  /// changed it.
  ///
  /// - Throws: `StorageError` when that can't be known.
  func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64)

  /// Lets `body` change the header, alone among all processes and threads.
  ///
  /// - Parameter body: is given the header and the names of all records, and changes the header.
  ///   What it leaves is made durable before this returns; an unchanged header costs no write.
  ///   It must not call the delegate.
  /// - Returns: the version of the header as `body` left it.
  /// - Throws: `StorageError`, or what `body` throws; the header is then unchanged.
  func updateHeader(
    _ body: (inout [UInt8]?, _ records: HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64

  /// How many writes a commit can take; checks (``RecordWrite/isCheck``) don't count.
  ///
  /// No limit unless said otherwise. 1 where the place has no transactions: then a transaction over
  /// several keys is the error `unsupported`, and what needs no atomicity is done one by one.
  var commitLimit: Int { get }

  /// Takes the keys that authenticate all records together, for a version of the header.
  ///
  /// Called whenever keys of the store were opened, before anything is committed against that
  /// version; only the removal of all records may come without, from a store whose keys can't be
  /// opened. The default does nothing: most places keep no manifest.
  func adopt(_ keys: ManifestKeys, headerVersion: UInt64)

  /// The record under `name`, and the version of the header that was current when it was read.
  ///
  /// - Throws: `StorageError` when that can't be known.
  func lookup(_ name: NameHash) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64)

  /// Makes all of `writes` or none, in one atomic and durable step, if the header is still that of
  /// `headerVersion`.
  ///
  /// The check of the header happens in the same step as the write, so that no record is sealed
  /// under a key that another process has just retired. All conditions are about what was there
  /// before the commit, and no two writes are of one name. One that is a check
  /// (``RecordWrite/isCheck``) changes nothing.
  ///
  /// - Throws: `StorageError`; nothing is then changed, except with the code `outcomeUnknown`.
  func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome

  /// The same for one write; the default calls the one for many.
  ///
  /// - Throws: as ``commit(_:headerVersion:)``.
  func commit(
    _ write: RecordWrite, headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome
}

/// The records that a delegate holds while it lends its header.
public struct HeldRecords {
  /// Says what becomes of a record: another name and record, or nil for no change.
  public typealias Rewriting = (NameHash, [UInt8]) throws(StorageError) -> (NameHash, [UInt8])?

  /// Whether there is none.
  public let isEmpty: Bool
  private let forEachRecord: ((NameHash, [UInt8]) -> Void) throws(StorageError) -> Void
  private let rewriteEach: ((Rewriting) throws(StorageError) -> Void)?
  private let takeKeys: ((ManifestKeys, ManifestKeys?) throws(StorageError) -> Void)?
  /// Whether a manifest tells of the records that were rewritten and of no others.
  ///
  /// Nil where there is no manifest.
  package var comparingRewritten: (() throws(StorageError) -> Bool)?
  /// Whether it is proven that all records are visited, so that none was withheld.
  ///
  /// Nil where nothing proves that.
  package var provingAll: (() throws(StorageError) -> Bool)?

  /// The records that `visiting` goes through.
  ///
  /// - Parameters:
  ///   - isEmpty: whether there is none.
  ///   - visiting: goes through all of them.
  ///   - rewriting: replaces records, in one atomic step with the change of the header; nil where
  ///     the delegate can't.
  ///   - authenticating: takes the keys of the new header for the manifest, and those of the old one;
  ///     nil where there is no manifest.
  public init(
    isEmpty: Bool, visiting: @escaping ((NameHash, [UInt8]) -> Void) throws(StorageError) -> Void,
    rewriting: ((Rewriting) throws(StorageError) -> Void)? = nil,
    authenticating: ((ManifestKeys, ManifestKeys?) throws(StorageError) -> Void)? = nil
  ) {
    self.isEmpty = isEmpty
    self.forEachRecord = visiting
    self.rewriteEach = rewriting
    self.takeKeys = authenticating
  }

  /// Goes through all names and records.
  ///
  /// - Throws: `StorageError` when they can't be read.
  public func visit(_ body: (NameHash, [UInt8]) -> Void) throws(StorageError) {
    try withoutActuallyEscaping(body) { (body) throws(StorageError) in try forEachRecord(body) }
  }

  /// Replaces the records that `body` says, with the change of the header or not at all.
  ///
  /// - Throws: `StorageError`: `unsupported` where the delegate can't, or what `body` throws.
  public func rewrite(_ body: Rewriting) throws(StorageError) {
    guard let rewriteEach else {
      throw StorageError(.unsupported, "this storage's delegate can't rename all of its records")
    }
    try withoutActuallyEscaping(body) { (body) throws(StorageError) in try rewriteEach(body) }
  }

  /// Whether the records that were rewritten are all that somebody with the keys has written: whatever
  /// else is there is none of the store's.
  ///
  /// - Throws: `StorageError` when that can't be computed.
  package func isWholeWithoutOthers() throws(StorageError) -> Bool {
    try comparingRewritten?() ?? false
  }

  /// Whether it is proven that no record was withheld; false where nothing proves that.
  ///
  /// - Throws: `StorageError` when that can't be computed.
  package func areProvenComplete() throws(StorageError) -> Bool { try provingAll?() ?? false }

  /// Has the manifest authenticated with `keys` from now on; does nothing where there is none.
  ///
  /// - Parameters:
  ///   - keys: those that go with the header as it is left.
  ///   - old: those that go with the header as it was; nil when there was none.
  /// - Throws: `StorageError` when it can't be computed.
  public func authenticate(
    with keys: ManifestKeys, replacing old: ManifestKeys?
  ) throws(StorageError) {
    try takeKeys?(keys, old)
  }
}

@available(*, unavailable)
extension HeldRecords: Sendable {}

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
  /// The record to keep, or nil to remove what is there.
  public let record: [UInt8]?
  /// What must hold for the whole commit to take place.
  public let condition: Condition
  /// Whether this is there for its condition alone: then nothing is written, and nothing told.
  ///
  /// `record` is what the condition asks for, so a delegate that writes it all the same does no harm
  /// but for the time, and for a change that is told and is none.
  public let isCheck: Bool
  /// What `record` adds to the manifest of a delegate that keeps one, if it was hashed.
  package private(set) var share: RecordShare?

  /// A write of `record`, or a removal when it is nil.
  public init(_ record: [UInt8]?, for name: NameHash, if condition: Condition = .always) {
    self.init(record, name, condition, isCheck: false)
  }

  private init(_ record: [UInt8]?, _ name: NameHash, _ condition: Condition, isCheck: Bool) {
    self.name = name
    self.record = record
    self.condition = condition
    self.isCheck = isCheck
  }

  /// No write: the commit takes place only if `record` is what is there, or nothing is when it is
  /// nil.
  public static func check(_ record: [UInt8]?, for name: NameHash) -> RecordWrite {
    RecordWrite(record, name, record.map { .equals($0) } ?? .absent, isCheck: true)
  }

  /// Finds the share of the record, if there is one to be written.
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

/// What became of a commit.
public enum CommitOutcome: Hashable, Sendable {
  /// All writes were made.
  case committed
  /// A condition did not hold; nothing was written.
  case conditionFailed
  /// The header is not that of the given version; nothing was written.
  case headerChanged
}

extension KeysetDelegate {
  /// Does nothing.
  public func adopt(_ keys: ManifestKeys, headerVersion: UInt64) {}

  /// No limit.
  public var commitLimit: Int { .max }

  /// Empty.
  public func place() throws(StorageError) -> String { "" }

  /// Nil.
  public var location: String? { nil }

  /// Commits one write as a list of one.
  public func commit(
    _ write: RecordWrite, headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    try commit([write], headerVersion: headerVersion)
  }

  /// The record that ``lookup(_:)`` finds.
  public func record(for name: NameHash) throws(StorageError) -> [UInt8]? {
    try lookup(name).record
  }

  /// Commits the record, whatever the header.
  public func set(_ record: [UInt8], for name: NameHash) throws(StorageError) {
    _ = try commitToCurrentHeader(RecordWrite(record, for: name))
  }

  /// Commits the record if there is none, whatever the header.
  public func setIfAbsent(
    _ record: [UInt8], for name: NameHash
  ) throws(StorageError) -> Bool {
    try commitToCurrentHeader(RecordWrite(record, for: name, if: .absent))
  }

  /// Commits the removal, whatever the header.
  public func remove(_ name: NameHash) throws(StorageError) {
    _ = try commitToCurrentHeader(RecordWrite(nil, for: name))
  }

  private func commitToCurrentHeader(_ write: RecordWrite) throws(StorageError) -> Bool {
    while true {
      switch try commit(write, headerVersion: header().version) {
      case .committed: return true
      case .conditionFailed: return false
      case .headerChanged: continue
      }
    }
  }
}
