internal import CryptoCore
package import StorageCore

extension VaultStorage {
  /// The number of the last commit; 0 when there is no vault.
  package func lastCommit() throws(StorageError) -> Int64 {
    let engine = try delegate.vault()
    return try engine.follower.reading(waiting: delegate.deadline) {
      (connection) throws(StorageError) in
      try VaultRows.stamps(connection).generation
    } ?? 0
  }

  /// The values that were written after a commit and still exist, and the number of the last commit
  /// that was looked at.
  ///
  /// The cost depends on how much was written since that commit, not on the size of the vault.
  ///
  /// - Returns: nil when the vault can't tell, because keys were changed, or the vault was restored
  ///   or repaired.
  package func listing(
    since number: Int64
  ) throws(StorageError) -> (listing: KeyListing, number: Int64)? {
    guard let (written, latest) = try written(since: number) else { return nil }
    let listing = try store.listing(of: written)
    // If the keys were changed meanwhile, existing records were not found.
    guard try self.written(since: number) != nil else { return nil }
    return (listing, latest)
  }

  private func written(
    since number: Int64
  ) throws(StorageError) -> (names: [NameHash], latest: Int64)? {
    let engine = try delegate.vault()
    let found = try engine.follower.reading(waiting: delegate.deadline) {
      (connection) throws(StorageError) -> (names: [NameHash], latest: Int64)? in
      let stamps = try VaultRows.stamps(connection)
      // The same rule as in `VaultFollower.catchUp`.
      guard (stamps.horizon...stamps.generation).contains(number), stamps.header <= number else {
        return nil
      }
      let changes = try VaultRows.changes(since: number, withRecords: false, connection)
      return (changes.map(\.name), stamps.generation)
    }
    return found ?? nil
  }
}
