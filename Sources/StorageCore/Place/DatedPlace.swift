package import CryptoCore

/// A place that knows which records were there before a change of its header.
///
/// Elsewhere nobody writes while the header is changed. Here others do, up to the change: what they
/// wrote under the old header counts, and what somebody with an old key wrote later does not.
package protocol DatedPlace: RecordPlace {
  /// Takes in all records that there are.
  ///
  /// - Throws: `StorageError` when the engine can't be asked.
  func takeInAll() throws(StorageError)

  /// Whether a record under a name was committed before the header had a version.
  ///
  /// - Throws: `StorageError` when the place can't be used.
  func isRecord(
    _ record: [UInt8], of name: NameHash, olderThan headerVersion: UInt64
  ) throws(StorageError) -> Bool
}
