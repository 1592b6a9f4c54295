internal import StorageCore

/// The record of a name as memory has it.
struct KeptRecord {
  /// Nil for a name that has none.
  let record: [UInt8]?
  /// What it adds to the manifest, if this process has written it.
  var share: RecordShare?

  init(record: [UInt8]?, share: RecordShare? = nil) {
    self.record = record
    self.share = share
  }

  /// What a write replaces, under the keys of its manifest.
  func replaced(under keys: ManifestKeys?) -> VaultTransaction.Replaced {
    guard let record else { return .nothing }
    guard let share, let keys, share.isUnder(keys) else { return .record(record) }
    return .share(share)
  }
}
