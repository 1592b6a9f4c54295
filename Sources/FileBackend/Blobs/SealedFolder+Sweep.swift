internal import CryptoCore
internal import StorageCore

extension SealedFolder {
  /// How many locks a sweep holds at once.
  private static let sweepBatch = 128

  /// Removes the blobs that a writer left which was killed, and their markers.
  ///
  /// As long as an entry of the index can't be read, nothing is removed: it may name any of them.
  func sweep(_ place: BlobPlace) throws(StorageError) {
    try removeUnnamed(place.pendingIDs(), in: place)
  }

  /// Removes those of some blobs that no entry names, and that nobody is writing.
  ///
  /// - Returns: how many blobs were removed.
  @discardableResult
  func removeUnnamed(_ ids: [BlobID], in place: BlobPlace) throws(StorageError) -> Int {
    var count = 0
    var rest = ids[...]
    while !rest.isEmpty {
      var claimed: [PendingMarker] = []
      for id in rest.prefix(Self.sweepBatch) {
        if let marker = try PendingMarker.claim(id, in: place) { claimed.append(marker) }
      }
      rest = rest.dropFirst(Self.sweepBatch)
      guard !claimed.isEmpty else { continue }
      // After the locks: what the index says of these blobs now, it says until they are given back.
      guard let named = try namedBlobs() else { return count }
      for marker in claimed {
        let isNamed = named.contains(marker.id)
        var isRemoved = false
        marker.end { () throws(StorageError) in
          if !isNamed { isRemoved = try place.remove(marker.id) }
          return true
        }
        if isRemoved { count += 1 }
      }
      try place.synchronize()
    }
    return count
  }

  /// The blobs that the index names, or nil when an entry of it can't be read.
  func namedBlobs() throws(StorageError) -> Set<BlobID>? {
    let listing = try index.listing()
    guard listing.unreadable == 0 else { return nil }
    var named: Set<BlobID> = []
    for name in listing.keys {
      do throws(StorageError) {
        if let blob = try entry(named: name)?.blob { named.insert(blob.id) }
      } catch {
        guard [.damaged, .unsupported, .typeMismatch].contains(error.code) else { throw error }
        return nil
      }
    }
    return named
  }
}
