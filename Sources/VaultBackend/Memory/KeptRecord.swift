internal import StorageCore

/// The record or tombstone of a name, in memory or in the file.
///
/// An object, so that readers can look at it in a ``RecordTable``; never changed.
final class KeptRecord: Sendable {
  /// Nil for a name without a record.
  let record: [UInt8]?
  /// The sequence number of the tombstone of a name without a record; 0 if there is none.
  let removal: Int64
  /// The manifest's share of the record or tombstone, if this process has written it.
  let share: RecordShare?

  /// A record, or the tombstone `removal`, or nothing.
  init(record: [UInt8]?, removal: Int64 = 0, share: RecordShare? = nil) {
    self.record = record
    self.removal = removal
    self.share = share
  }

  /// The same with its share of the manifest.
  func with(_ share: RecordShare) -> KeptRecord {
    KeptRecord(record: record, removal: removal, share: share)
  }

  /// What a write replaces; a known share counts only under the keys of the present manifest.
  func replaced(under keys: ManifestKeys?) -> VaultTransaction.Replaced {
    var known: RecordShare?
    if let share, let keys, share.isUnder(keys) { known = share }
    guard let record else { return removal == 0 ? .nothing : .removal(removal, known) }
    return known.map { .share($0) } ?? .record(record)
  }
}
