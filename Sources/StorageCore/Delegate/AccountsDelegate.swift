package import CryptoCore

/// A delegate that can tell what somebody with the keys has written from what was put there otherwise.
///
/// Whoever has an old data key makes records that open. So before such a record is sealed anew, under
/// a key that only the store has, it is to be accounted for.
package protocol AccountsDelegate: KeysetDelegate {
  /// How many accounts there are, between which the records are divided.
  var accountCount: Int { get }

  /// The records of some accounts, in one snapshot.
  ///
  /// It costs going through all of these records once; for fewer than all accounts, in no good order.
  ///
  /// - Parameters:
  ///   - indices: which accounts, from 0.
  ///   - headerVersion: the version of the header that `opens` has the keys of.
  ///   - opens: whether a record opens; asked only where an account is not settled by all records.
  /// - Returns: nil when the keys that tell are not open for the present header, or it is another.
  /// - Throws: `StorageError` when that can't be known, or what `opens` throws.
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
  /// Whether all records that open are those that were written last.
  package let isSettled: Bool

  package init(_ entries: [Entry], isSettled: Bool) {
    self.entries = entries
    self.isSettled = isSettled
  }
}

extension RecordShare {
  /// Whether it is the share of the very same bytes: 256 bits of a keyed hash tell.
  func isOfSameRecord(as other: RecordShare) -> Bool {
    (0..<4).allSatisfy { number[$0] == other.number[$0] }
  }
}

/// A delegate whose every write is one of all that it holds, so that all records can be sealed anew
/// in the step that changes the header, at no greater cost.
///
/// Its ``HeldRecords`` can be rewritten.
package protocol WholesaleDelegate: KeysetDelegate {}
