internal import CryptoCore
package import StorageCore

extension VaultStorage {
  /// The number of the last commit; 0 when there is no vault.
  package func lastCommit() throws(StorageError) -> Int64 {
    let engine = try delegate.vault()
    return try engine.reading(waiting: delegate.deadline) { (connection) throws(StorageError) in
      try VaultRows.stamps(connection).generation
    } ?? 0
  }

  /// The values written after a commit that still exist, and the number of the last commit covered.
  ///
  /// The cost depends on what was written since, not on the size of the vault.
  ///
  /// - Returns: nil when this is unknown: keys were changed, or a vault was restored or repaired.
  package func listing(
    since number: Int64
  ) throws(StorageError) -> (listing: KeyListing, number: Int64)? {
    guard let (written, latest) = try written(since: number) else { return nil }
    let listing = try store.listing(of: written)
    // If keys were changed meanwhile, the listing may have missed an existing record.
    guard try self.written(since: number) != nil else { return nil }
    return (listing, latest)
  }

  private func written(
    since number: Int64
  ) throws(StorageError) -> (names: [NameHash], latest: Int64)? {
    let engine = try delegate.vault()
    let found = try engine.reading(waiting: delegate.deadline) {
      (connection) throws(StorageError) -> (names: [NameHash], latest: Int64)? in
      let stamps = try VaultRows.stamps(connection)
      // The same rule as in `VaultEngine.catchUp`.
      guard (stamps.horizon...stamps.generation).contains(number), stamps.header <= number else {
        return nil
      }
      let changes = try VaultRows.changes(since: number, withRecords: false, connection)
      return (changes.map(\.name), stamps.generation)
    }
    return found ?? nil
  }
}
