public import CryptoCore

/// The records that a place holds while it lends its header; see ``RecordPlace/updateHeader(_:)``.
public struct HeldRecords {
  /// Says what becomes of a record: another name and record, or nil for no change.
  public typealias Rewriting = (NameHash, [UInt8]) throws(StorageError) -> (NameHash, [UInt8])?

  /// Whether the store has no records.
  public let isEmpty: Bool
  private let forEachRecord: ((NameHash, [UInt8]) -> Void) throws(StorageError) -> Void
  private let rewriteEach: ((Rewriting) throws(StorageError) -> Void)?
  private let takeKeys: ((ManifestKeys, ManifestKeys?) throws(StorageError) -> Void)?
  /// Whether it is proven that all records are visited and none was withheld.
  ///
  /// Nil where nothing proves that.
  package var provingAll: (() throws(StorageError) -> Bool)?

  /// Describes the records of a place without a manifest.
  ///
  /// - Parameters:
  ///   - isEmpty: whether the store has no records.
  ///   - visiting: calls its argument with each record.
  ///   - rewriting: replaces records, in one atomic step with the change of the header; nil where
  ///     the place can't.
  public init(
    isEmpty: Bool, visiting: @escaping ((NameHash, [UInt8]) -> Void) throws(StorageError) -> Void,
    rewriting: ((Rewriting) throws(StorageError) -> Void)? = nil
  ) {
    self.init(isEmpty: isEmpty, visiting: visiting, rewriting: rewriting, authenticating: nil)
  }

  /// Describes the records of a place.
  ///
  /// `authenticating` gets the keys of the manifest for the new header, and those for the old one.
  package init(
    isEmpty: Bool, visiting: @escaping ((NameHash, [UInt8]) -> Void) throws(StorageError) -> Void,
    rewriting: ((Rewriting) throws(StorageError) -> Void)?,
    authenticating: ((ManifestKeys, ManifestKeys?) throws(StorageError) -> Void)?
  ) {
    self.isEmpty = isEmpty
    self.forEachRecord = visiting
    self.rewriteEach = rewriting
    self.takeKeys = authenticating
  }

  /// Calls `body` with the name and the bytes of each record.
  ///
  /// - Throws: `StorageError` when the records can't be read.
  public func visit(_ body: (NameHash, [UInt8]) -> Void) throws(StorageError) {
    try withoutActuallyEscaping(body) { (body) throws(StorageError) in try forEachRecord(body) }
  }

  /// Replaces the records for which `body` returns others, in one step with the header's change.
  ///
  /// - Throws: `StorageError`: `unsupported` where the place can't, or what `body` throws.
  public func rewrite(_ body: Rewriting) throws(StorageError) {
    guard let rewriteEach else {
      throw StorageError(.unsupported, "this storage's place can't rename all of its records")
    }
    try withoutActuallyEscaping(body) { (body) throws(StorageError) in try rewriteEach(body) }
  }

  /// Whether it is proven that no record was withheld; false where nothing proves that.
  ///
  /// - Throws: `StorageError` when the sums can't be computed.
  package func areProvenComplete() throws(StorageError) -> Bool { try provingAll?() ?? false }

  /// Authenticates the manifest with other keys from now on; does nothing without a manifest.
  ///
  /// - Parameters:
  ///   - keys: the keys that go with the header as `updateHeader` leaves it.
  ///   - old: the keys that went with the former header; nil when there was none.
  /// - Throws: `StorageError` when the manifest can't be computed.
  package func authenticate(
    with keys: ManifestKeys, replacing old: ManifestKeys?
  ) throws(StorageError) {
    try takeKeys?(keys, old)
  }
}

@available(*, unavailable)
extension HeldRecords: Sendable {}
