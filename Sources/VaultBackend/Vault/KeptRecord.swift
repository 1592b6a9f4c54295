internal import CryptoCore
internal import StorageCore

/// The record of a name as memory has it.
struct KeptRecord {
  /// Nil for a name that has none.
  let record: [UInt8]?
  /// What it adds to the manifest, if this process has written it.
  var share: KeptShare?

  init(record: [UInt8]?, share: KeptShare? = nil) {
    self.record = record
    self.share = share
  }

  /// What a write replaces, under the keys of its manifest.
  func replaced(under keys: ManifestKeys?) -> VaultTransaction.Replaced {
    guard let record else { return .nothing }
    guard let share, share.key === keys?.records else { return .record(record) }
    return .share(share)
  }
}

/// What a record adds to the manifest, remembered until the record is replaced: to hash it takes a
/// tenth of the time of a write among many.
///
/// An object, since memory is mostly full of records that were only read.
final class KeptShare: Sendable {
  let value: RecordShare
  let key: KeyedHash

  init(_ value: RecordShare, _ keys: ManifestKeys) {
    self.value = value
    key = keys.records
  }
}
