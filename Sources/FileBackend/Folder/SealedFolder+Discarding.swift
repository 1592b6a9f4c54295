internal import CryptoCore
public import StorageCore
internal import VaultBackend

internal import struct FoundationEssentials.URL

extension SealedFolder {
  /// Removes the index and all values, for good and unread, so that the folder is as a new one.
  ///
  /// The same as `Storage.discard()` of a vault: it opens nothing and asks nobody, so let the user
  /// confirm it first. Properties have no value or their defaults, and the next write makes a new
  /// index. The key of the old one stays. A value that another program is just writing is not
  /// removed; its commit is an error.
  ///
  /// - Throws: `StorageError`: `readOnly` when the folder was opened read-only, `denied` for a
  ///   link or another user's file where a file of the folder is expected, `busy` when another
  ///   program has a broken index open. A part of the values may then be gone; call it again.
  public func discard() throws(StorageError) {
    try index.requireWritable()
    let place = BlobPlace(
      path: FilePath.folder(of: try index.resolvedPath()), trust: index.folderTrust)
    let hasFiles = try place.check()
    // An index without names: whoever finds files now finds none of its own. Without an index, the
    // files would make the folder damaged.
    try index.empty(isMaking: hasFiles ? try place.hasBlobs() : false)
    failedReads.forgetAll()
    if hasFiles {
      // The emptied index is no store, and this folder may require one.
      let emptied = SealedFolder(
        at: URL(fileURLWithPath: place.path, isDirectory: true), keySource: index.store.keySource,
        folderTrust: index.folderTrust)
      _ = try place.withUpkeepLock { () throws(StorageError) in
        try emptied.removeAllUnnamed(in: place)
      }
      guard try !place.hasBlobs() else { return }
    }
    try index.discard()
  }
}
