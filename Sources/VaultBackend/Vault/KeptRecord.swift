internal import StorageCore

/// What a name has, as memory or the file has it.
///
/// An object, so that readers can look at it in a ``RecordTable``; never changed.
final class KeptRecord: Sendable {
  /// Nil for a name that has none.
  let record: [UInt8]?
  /// The sequence number of the tombstone of a name without a record; 0 where there is none.
  let removal: Int64
  /// What record or tombstone adds to the manifest, if this process has written it.
  let share: RecordShare?

  /// A record, or the tombstone `removal`, or nothing.
  init(record: [UInt8]?, removal: Int64 = 0, share: RecordShare? = nil) {
    self.record = record
    self.removal = removal
    self.share = share
  }

  /// The same with what it adds to the manifest.
  func with(_ share: RecordShare) -> KeptRecord {
    KeptRecord(record: record, removal: removal, share: share)
  }

  /// What a write replaces, under the keys of its manifest.
  func replaced(under keys: ManifestKeys?) -> VaultTransaction.Replaced {
    var known: RecordShare?
    if let share, let keys, share.isUnder(keys) { known = share }
    guard let record else { return removal == 0 ? .nothing : .removal(removal, known) }
    return known.map { .share($0) } ?? .record(record)
  }
}
