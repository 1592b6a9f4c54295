package import CryptoCore

/// A delegate that can tell whether its list of names falls short, as that of a damaged file may.
package protocol CensusDelegate: KeysetDelegate {
  /// The names of all records, and how many more there should be.
  ///
  /// - Returns: nil when the keys that tell are not open for the present header.
  /// - Throws: `StorageError` when that can't be known.
  func census() throws(StorageError) -> RecordCensus?

  /// Those of `names` that are in the list and lead to no record, and were not removed meanwhile.
  ///
  /// - Returns: for each of them the name that its record can be found under, or nil.
  /// - Throws: `StorageError` when that can't be known.
  func strays(among names: Set<NameHash>) throws(StorageError) -> [NameHash?]
}

/// The records of a store, as far as they can be listed.
package struct RecordCensus: Sendable {
  package let names: [NameHash]
  /// How many records are not in the list, and nobody with the keys removed them.
  package let missing: Int

  package init(names: [NameHash], missing: Int) {
    self.names = names
    self.missing = missing
  }
}

extension SealedStore {
  /// The names that a delegate lists, and how many it should list besides, where that can be known.
  func census(of delegate: any EnumerableDelegate) throws(StorageError) -> RecordCensus {
    guard let delegate = delegate as? any CensusDelegate else {
      return RecordCensus(names: try delegate.names(), missing: 0)
    }
    for _ in 0..<Self.attempts {
      if let census = try delegate.census() { return census }
      guard try keys.refresh() != nil else { return RecordCensus(names: [], missing: 0) }
    }
    throw StorageError(.busy, "another program kept changing the store's keys; try again")
  }

  /// What became of listed names that no record was found under: for each that was not removed
  /// meanwhile the name that its record can be found under, or nil.
  func strays(
    among names: [NameHash], in delegate: any EnumerableDelegate
  ) throws(StorageError) -> [NameHash?] {
    guard !names.isEmpty, let delegate = delegate as? any CensusDelegate else { return [] }
    return try delegate.strays(among: Set(names))
  }
}
