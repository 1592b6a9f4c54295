internal import CryptoCore
public import StorageCore

extension SealedFolder {
  /// Accepts the folder as it is, after a verification had findings.
  ///
  /// The index is repaired as a vault is. No name and no blob is removed unless you ask for that: a
  /// damaged blob may come back from a backup, and an unnamed blob may belong to another version of
  /// the index.
  ///
  /// - Parameters:
  ///   - report: what ``verify(expecting:progress:)`` found and the caller accepts.
  ///   - removingUnreadable: whether to remove names whose value can't be read as a whole, and
  ///     records of the index that don't open.
  ///   - removingUnnamed: whether to remove blobs without a name.
  /// - Returns: what was done.
  /// - Throws: `StorageError`: `readOnly` when the folder was opened read-only, `busy` when somebody
  ///   has written to the index since. Completed parts of the repair stay done.
  @discardableResult
  public func repair(
    accepting report: SealedFolderReport, removingUnreadable: Bool = false,
    removingUnnamed: Bool = false
  ) throws(StorageError) -> SealedFolderRepair {
    try index.requireWritable()
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

  /// Gives the space of entries removed from the index back to the file system.
  ///
  /// Blobs are files: the space of removed ones is free already.
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
