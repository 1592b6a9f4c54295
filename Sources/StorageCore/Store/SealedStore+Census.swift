internal import CryptoCore

extension SealedStore {
  /// The names that the place lists, and how many are missing; 0 where that is not known.
  func census() throws(StorageError) -> RecordCensus {
    guard let manifestPlace else { return RecordCensus(names: try place.names(), missing: 0) }
    for _ in Attempts() {
      if let census = try manifestPlace.census() { return census }
      guard try keys.refresh() != nil else { return RecordCensus(names: [], missing: 0) }
    }
    throw StorageError(.busy, "the store's keys kept changing during the call; try again")
  }

  /// Explains listed names under which no record was found.
  ///
  /// - Returns: for each name that was not removed meanwhile, the name under which its record can
  ///   be found, or nil.
  func strays(among names: [NameHash]) throws(StorageError) -> [NameHash?] {
    guard !names.isEmpty, let manifestPlace else { return [] }
    return try manifestPlace.strays(among: Set(names))
  }
}
