package import CryptoCore

/// A delegate that can tell records written by someone with the keys from records put there otherwise.
///
/// Anyone with an old data key can make records that open. So the delegate has to account for such a record
/// before it is sealed again with a key that only the store has.
package protocol AccountsDelegate: KeysetDelegate {
  /// How many accounts the records are divided into.
  var accountCount: Int { get }

  /// Returns the records of some accounts, in one snapshot.
  ///
  /// Reads each of these records once. For fewer than all accounts, the order of the reads is slow.
  ///
  /// - Parameters:
  ///   - indices: which accounts, from 0.
  ///   - headerVersion: the version of the header whose keys `opens` uses.
  ///   - opens: whether a record opens; called only if an account is not settled by all of its records.
  /// - Returns: nil when the manifest keys for the current header are not open, or the current header has
  ///   another version.
  /// - Throws: `StorageError` when the delegate can't tell, or the error of `opens`.
  func accounts(
    _ indices: Range<Int>, headerVersion: UInt64,
    opens: (NameHash, [UInt8]) throws(StorageError) -> Bool
  ) throws(StorageError) -> [RecordAccount]?
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
  package let isSettled: Bool

  package init(_ entries: [Entry], isSettled: Bool) {
    self.entries = entries
    self.isSettled = isSettled
  }
}

extension RecordShare {
  /// Whether both shares are of the same bytes, judged by 256 bits of a keyed hash.
  func isOfSameRecord(as other: RecordShare) -> Bool {
    (0..<4).allSatisfy { number[$0] == other.number[$0] }
  }
}

/// A delegate that writes all of its records at each write.
///
/// So all records can be sealed again in the step that changes the header, at no extra cost. The delegate's
/// ``HeldRecords`` can be rewritten.
package protocol WholesaleDelegate: KeysetDelegate {}
