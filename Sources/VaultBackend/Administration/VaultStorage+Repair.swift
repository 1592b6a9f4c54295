internal import CryptoCore
internal import StorageCore

extension VaultStorage {
  /// Makes the file anew out of the rows that can still be read.
  ///
  /// The old file stays beside the new one under another name.
  func rebuild() throws(StorageError) {
    let engine = try delegate.vault()
    try engine.alone(waiting: delegate.deadline) { (end) throws(StorageError) in
      try engine.replaceFile(until: end) { (connection) throws(StorageError) in
        try VaultSalvage.copy(
          try Connection(engine.file.path, .readOnly, until: end), to: connection)
      }
    }
  }
}
