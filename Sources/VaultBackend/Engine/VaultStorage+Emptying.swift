package import StorageCore

extension VaultStorage {
  /// The same as ``StorageCore/Storage/discard()``, except that an empty vault stays in its place.
  ///
  /// - Parameter isMaking: whether an empty vault is made where nothing was.
  /// - Throws: `StorageError`: as ``StorageCore/Storage/discard()``.
  package func empty(isMaking: Bool) throws(StorageError) {
    try store.discard { () throws(StorageError) in try self.delegate.empty(isMaking: isMaking) }
  }
}
