extension SealedStore {
  /// Removes the store, whatever it contains, so that the next use begins with a new one.
  ///
  /// - Parameter body: removes it in another way than ``RecordPlace/discard()``.
  /// - Throws: `StorageError`: why something is left.
  package func discard(by body: (() throws(StorageError) -> Void)? = nil) throws(StorageError) {
    try checkWrite(nil, "discard")
    try keys.discard(by: body)
    failedReads.forgetAll()
  }
}
