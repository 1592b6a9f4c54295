package import CryptoCore

/// A place that keeps a manifest: an authenticated account of all of its records together.
///
/// The seal of one record does not show that another record was removed, or replaced by an older
/// version of itself; the manifest shows both. So this place can tell records that somebody with
/// the keys wrote from records that were put there otherwise, and knows when an earlier state was
/// restored. See docs/file-format.md, section "Vault".
package protocol ManifestPlace: RecordPlace {
  /// Takes the keys that authenticate all records together, for a version of the header.
  ///
  /// Called each time that keys of the store were opened, before anything is committed against that
  /// version. Only the removal of all records may come without, from a store whose keys can't be
  /// opened.
  func adopt(_ keys: ManifestKeys, headerVersion: UInt64)

  // MARK: Missing records

  /// Returns the names of all records, and how many more there should be.
  ///
  /// - Returns: nil when the manifest keys for the current header are not open.
  /// - Throws: `StorageError` when the place can't tell.
  func census() throws(StorageError) -> RecordCensus?

  // MARK: Forged records

  /// How many accounts the records are divided into.
  var accountCount: Int { get }

  /// Returns the records of some accounts, in one snapshot.
  ///
  /// Anyone with an old data key can make records that open. So the place accounts for such a
  /// record before it is sealed again with a key that only the store has. Reads each of these
  /// records once. For fewer than all accounts, the order of the reads is slow.
  ///
  /// - Parameters:
  ///   - indices: which accounts, from 0.
  ///   - headerVersion: the version of the header whose keys `opens` uses.
  ///   - opens: whether a record opens; called only if an account is not balanced by all of its
  ///     records.
  /// - Returns: nil when the manifest keys for the current header are not open, or the current
  ///   header has another version.
  /// - Throws: `StorageError` when the place can't tell, or the error of `opens`.
  func accounts(
    _ indices: Range<Int>, headerVersion: UInt64,
    opens: (NameHash, [UInt8]) throws(StorageError) -> Bool
  ) throws(StorageError) -> [RecordAccount]?

  // MARK: Restored states

  /// The last restoration or repair by this process; nil when there was none.
  ///
  /// `number` counts from 1; `root` is the check value of the restored root key.
  var restoration: (number: Int, root: [UInt8])? { get }

  /// Whether another process has restored the current state of the place.
  ///
  /// If so, the place also counts this as the last restoration of this process.
  ///
  /// - Parameters:
  ///   - keys: the keys of the current manifest.
  ///   - headerVersion: the version of the header that holds `keys`.
  /// - Returns: whether another process has restored the current state.
  /// - Throws: `StorageError` when the place can't tell.
  func wasRestored(_ keys: ManifestKeys, headerVersion: UInt64) throws(StorageError) -> Bool
}

/// The names of a store's records that can be listed, and the number of missing records.
package struct RecordCensus: Sendable {
  package let names: [NameHash]
  /// How many records are not in the list although no one with the keys removed them.
  package let missing: Int

  package init(names: [NameHash], missing: Int) {
    self.names = names
    self.missing = missing
  }
}

/// The records of an account.
package struct RecordAccount {
  /// One record.
  package struct Entry {
    package let name: NameHash
    package let share: RecordShare
    /// How many bytes the record has.
    package let size: Int

    package init(name: NameHash, share: RecordShare, size: Int) {
      (self.name, self.share, self.size) = (name, share, size)
    }
  }

  package let entries: [Entry]
  /// Whether the records that open are exactly the last written ones.
  package let isBalanced: Bool

  package init(_ entries: [Entry], isBalanced: Bool) {
    self.entries = entries
    self.isBalanced = isBalanced
  }
}

extension RecordShare {
  /// Whether both shares are of the same bytes, judged by 256 bits of a keyed hash.
  func isOfSameRecord(as other: RecordShare) -> Bool {
    (0..<4).allSatisfy { number[$0] == other.number[$0] }
  }
}
