package import CryptoCore

/// A delegate that can tell whether names are missing from its list, for instance in a damaged file.
package protocol CensusDelegate: KeysetDelegate {
  /// Returns the names of all records, and how many more there should be.
  ///
  /// - Returns: nil when the manifest keys for the current header are not open.
  /// - Throws: `StorageError` when the delegate can't tell.
  func census() throws(StorageError) -> RecordCensus?

  /// Finds the names in `names` that are listed but lead to no record, and were not removed meanwhile.
  ///
  /// - Returns: for each such name, the name under which its record can be found, or nil.
  /// - Throws: `StorageError` when the delegate can't tell.
  func strays(among names: Set<NameHash>) throws(StorageError) -> [NameHash?]
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

extension SealedStore {
  /// The names that a delegate lists, and how many are missing; 0 where that is not known.
  func census(of delegate: any EnumerableDelegate) throws(StorageError) -> RecordCensus {
    guard let delegate = delegate as? any CensusDelegate else {
      return RecordCensus(names: try delegate.names(), missing: 0)
    }
    for _ in 0..<Self.attempts {
      if let census = try delegate.census() { return census }
      guard try keys.refresh() != nil else { return RecordCensus(names: [], missing: 0) }
    }
    throw StorageError(.busy, "the store's keys kept changing during the call; try again")
  }

  /// Explains listed names under which no record was found.
  ///
  /// - Returns: for each name that was not removed meanwhile, the name under which its record can be found,
  ///   or nil.
  func strays(
    among names: [NameHash], in delegate: any EnumerableDelegate
  ) throws(StorageError) -> [NameHash?] {
    guard !names.isEmpty, let delegate = delegate as? any CensusDelegate else { return [] }
    return try delegate.strays(among: Set(names))
  }
}
