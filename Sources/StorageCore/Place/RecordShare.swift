package import CryptoCore

/// The hash that one record, or one removal, adds to the sums of a manifest.
///
/// See docs/file-format.md, section "Manifest". A share is kept until the record is replaced:
/// hashing the record again would take a tenth of the time of one write among many. A share is an
/// object, so that it costs little memory for the many records of a vault that were only read and
/// have no share.
package final class RecordShare: Sendable {
  /// The number that is added to the sum, least significant word first.
  package let number: InlineArray<4, UInt64>
  /// The number that is added to the sum of the record's bucket; removals have no bucket.
  package let bucket: UInt64
  private let key: KeyedHash

  /// Hashes a record.
  ///
  /// - Throws: `StorageError` when the record can't be hashed.
  package convenience init(
    of record: [UInt8], _ name: NameHash, _ keys: ManifestKeys
  ) throws(StorageError) {
    try self.init(unsafe record.span.bytes, name, keys.records)
  }

  /// Hashes the removal of a name; a removal has a sequence number, as a record has.
  ///
  /// - Throws: `StorageError` when the removal can't be hashed.
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

  /// Whether this share was made with `keys`, and so counts in their manifest.
  package func isUnder(_ keys: ManifestKeys) -> Bool {
    key === keys.records || key === keys.removals
  }
}
