package import CryptoCore

/// What one record adds to a manifest's figures: its hash, docs/file-format.md, section "Manifest".
///
/// Kept until the record is replaced: to hash it again takes a tenth of the time of a write among
/// many. An object, since a vault's memory is mostly full of records that were only read.
package final class RecordShare: Sendable {
  /// The number that is added to the sum, least significant word first.
  package let number: InlineArray<4, UInt64>
  /// What is added to the sum of its bucket.
  package let bucket: UInt64
  private let key: KeyedHash

  /// The share of a record.
  ///
  /// - Throws: `StorageError` when it can't be hashed.
  package init(of record: [UInt8], _ name: NameHash, _ keys: ManifestKeys) throws(StorageError) {
    key = keys.records
    let words = try cryptography { [key] () throws(CryptoError) in
      try unsafe key.hash(name, record.span.bytes)
    }.words
    number = InlineArray { UInt64(bigEndian: words[3 - $0]) }
    bucket = UInt64(bigEndian: words[4])
  }

  /// Whether it counts in a manifest of these keys.
  package func isUnder(_ keys: ManifestKeys) -> Bool { key === keys.records }
}
