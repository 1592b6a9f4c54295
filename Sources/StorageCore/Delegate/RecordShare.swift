package import CryptoCore

/// What one record, or one removal, adds to a manifest's figures: its hash, docs/file-format.md,
/// section "Manifest".
///
/// Kept until the record is replaced: to hash it again takes a tenth of the time of a write among
/// many. An object, since a vault's memory is mostly full of records that were only read.
package final class RecordShare: Sendable {
  /// The number that is added to the sum, least significant word first.
  package let number: InlineArray<4, UInt64>
  /// What is added to the sum of its bucket; removals have none there.
  package let bucket: UInt64
  private let key: KeyedHash

  /// The share of a record.
  ///
  /// - Throws: `StorageError` when it can't be hashed.
  package convenience init(
    of record: [UInt8], _ name: NameHash, _ keys: ManifestKeys
  ) throws(StorageError) {
    try self.init(unsafe record.span.bytes, name, keys.records)
  }

  /// The share of a name's removal, which has a sequence number as a record has.
  ///
  /// - Throws: `StorageError` when it can't be hashed.
  package convenience init(
    ofRemoval sequence: Int64, _ name: NameHash, _ keys: ManifestKeys
  ) throws(StorageError) {
    let number = InlineArray<1, UInt64>(repeating: UInt64(bitPattern: sequence).bigEndian)
    try self.init(unsafe number.span.bytes, name, keys.removals)
  }

  private init(
    _ bytes: RawSpan, _ name: NameHash, _ key: KeyedHash
  ) throws(StorageError) {
    self.key = key
    let words: InlineArray<8, UInt64>
    do throws(CryptoError) {
      words = try key.hash(name, bytes).words
    } catch {
      throw StorageError(error)
    }
    number = InlineArray { UInt64(bigEndian: words[3 - $0]) }
    bucket = UInt64(bigEndian: words[4])
  }

  /// Whether it counts in a manifest of these keys.
  package func isUnder(_ keys: ManifestKeys) -> Bool {
    key === keys.records || key === keys.removals
  }
}
