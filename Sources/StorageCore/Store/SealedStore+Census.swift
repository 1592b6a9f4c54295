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

  /// How many of the names lead to no record although they are still listed: their rows have another
  /// name in the index of a damaged file.
  func misnamedCount(among names: [NameHash]) throws(StorageError) -> Int {
    guard !names.isEmpty, manifestPlace != nil else { return 0 }
    var count = 0
    for name in Set(try place.names()).intersection(names) {
      count += try place.lookup(name).record == nil ? 1 : 0
    }
    return count
  }
}
