internal import CryptoCore
public import StorageCore

extension SealedFolder {
  /// Takes the folder as it is, after a verification found it otherwise.
  ///
  /// The index is repaired as a vault is. No name and no blob is removed unless that is asked for: a
  /// damaged blob may come back from a backup, and a blob that nobody names may be one of an index that
  /// does.
  ///
  /// - Parameters:
  ///   - report: what ``verify(expecting:progress:)`` found and the caller accepts.
  ///   - removingUnreadable: whether the names are removed whose value can't be read as a whole, and the
  ///     records of the index that don't open.
  ///   - removingUnnamed: whether blobs are removed that nobody names.
  /// - Returns: what was done.
  /// - Throws: `StorageError`: `busy` when somebody has written to the index since. What was done of the
  ///   repair before stays done.
  @discardableResult
  public func repair(
    accepting report: SealedFolderReport, removingUnreadable: Bool = false,
    removingUnnamed: Bool = false
  ) throws(StorageError) -> SealedFolderRepair {
    let place = try unpreparedPlace()
    let repair = try index.repair(
      accepting: report.index, droppingUnreadable: removingUnreadable)
    var removed: [StoreKey] = []
    if removingUnreadable {
      for name in report.findings.compactMap(\.name) {
        let isThere = try change { (transaction) throws(StorageError) in
          guard try transaction.contains(name) else { return false }
          // Somebody may have written the value anew.
          guard try !transaction.isReadable(name) else { return false }
          try transaction.remove(name)
          return true
        }
        if isThere { removed.append(name) }
      }
    }
    var count = 0
    if removingUnnamed {
      try place.create()
      count = try place.withUpkeepLock { () throws(StorageError) in
        try removeAllUnnamed(in: place)
      }
    }
    return SealedFolderRepair(index: repair, removedNames: removed, removedBlobCount: count)
  }

  /// Gives the space of what was removed from the index back to the file system.
  ///
  /// Blobs are files: the space of those that were removed is free already.
  ///
  /// - Throws: `StorageError`: as `VaultStorage.compact()`; the folder then holds what it held.
  public func compact() throws(StorageError) {
    _ = try preparedForWriting()
    try index.compact()
  }
}

extension SealedFolderTransaction {
  /// Whether all of a value can be read.
  fileprivate func isReadable(_ name: StoreKey) throws(StorageError) -> Bool {
    do throws(StorageError) {
      guard let reader = try reader(named: name) else { return false }
      try reader.forEachChunk { (_) throws(StorageError) in }
      return true
    } catch {
      guard error.isOfValue else { throw error }
      return false
    }
  }
}
