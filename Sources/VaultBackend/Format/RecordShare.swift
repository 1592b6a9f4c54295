internal import CryptoCore
internal import StorageCore

/// What one record adds to a manifest's figures: its hash, docs/file-format.md, section "Manifest".
struct RecordShare: Sendable {
  /// The number that is added to the sum, least significant word first.
  let number: InlineArray<4, UInt64>
  /// What is added to the sum of its bucket.
  let bucket: UInt64

  /// The share of a record.
  ///
  /// - Throws: `StorageError` when it can't be hashed.
  init(of record: [UInt8], _ name: NameHash, _ keys: ManifestKeys) throws(StorageError) {
    let words = try cryptography { () throws(CryptoError) in
      try unsafe keys.records.hash(name, record.span.bytes)
    }.words
    number = InlineArray { UInt64(bigEndian: words[3 - $0]) }
    bucket = UInt64(bigEndian: words[4])
  }
}
