package import CryptoCore

extension OwnProcess {
  /// Refuses to let a forked child continue with something that its parent made.
  ///
  /// - Parameters:
  ///   - what: what the parent made, for the message: "the transaction".
  ///   - key: the key name concerned.
  ///   - path: the file concerned.
  /// - Throws: `unavailable` in a child of fork(2).
  package func require(
    _ what: String, key: String? = nil, path: String? = nil
  ) throws(StorageError) {
    guard isCurrent else {
      throw StorageError(
        .unavailable,
        "\(what) was made before fork(2) and belongs to the parent; make another one in the child",
        key: key, path: path)
    }
  }
}
