internal import CryptoCore
internal import StorageCore

extension SealedFolder {
  /// How many locks a sweep holds at once.
  private static let sweepBatch = 128

  /// Removes blobs that a killed writer left, and their markers.
  ///
  /// Removes nothing while an entry of the index can't be read: that entry may name any of them.
  func sweep(_ place: BlobPlace) throws(StorageError) {
    let ids = try place.pendingIDs()
    // The index is listed only if there is a marker that nobody holds.
    for (number, id) in ids.enumerated() {
      guard try place.hasMarker(of: id),
        try PendingMarker.claim(id, in: place) != nil
      else { continue }
      guard var named = try NamedBlobs(in: self) else { return }
      try removeUnnamed(Array(ids[number...]), in: place, &named)
      return
    }
  }

  /// Removes blobs that no entry names and nobody is writing; the caller holds the upkeep lock.
  ///
  /// - Returns: how many were removed.
  @discardableResult
  func removeAllUnnamed(in place: BlobPlace) throws(StorageError) -> Int {
    let ids = try place.blobIDs()
    guard !ids.isEmpty, var named = try NamedBlobs(in: self) else { return 0 }
    // Named blobs are left out, so that their markers stay free for writers.
    return try removeUnnamed(ids.filter { !named.mayName($0) }, in: place, &named)
  }

  /// Removes those of the given blobs that no entry names and nobody is writing.
  ///
  /// The index was listed before, without a lock, so that nobody waits for that. Once the markers
  /// are claimed, the later changes are read: what the index then says of these blobs stays true
  /// until the markers are given back.
  ///
  /// - Returns: how many blobs were removed.
  @discardableResult
  private func removeUnnamed(
    _ ids: [BlobID], in place: BlobPlace, _ named: inout NamedBlobs
  ) throws(StorageError) -> Int {
    var count = 0
    var rest = ids[...]
    while !rest.isEmpty {
      var claimed: [PendingMarker] = []
      for id in rest.prefix(Self.sweepBatch) {
        if let marker = try PendingMarker.claim(id, in: place) { claimed.append(marker) }
      }
      rest = rest.dropFirst(Self.sweepBatch)
      guard !claimed.isEmpty else { continue }
      guard try named.catchUp() else { return count }
      for marker in claimed {
        let isNamed = try named.name(marker.id)
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
}
