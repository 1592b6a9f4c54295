internal import CryptoCore
internal import StorageCore

extension VaultEngine {
  /// Whether another process has restored the present state, whose header has the given version:
  /// only somebody with the keys can write a manifest whose number is so far beyond those that were
  /// seen.
  func wasRestored(
    _ keys: ManifestKeys, headerVersion: UInt64, waiting deadline: Duration
  ) throws(StorageError) -> Bool {
    let past = seen.all
    return try follower.reading(waiting: deadline) { (connection) throws(StorageError) in
      let header = try VaultRows.header(connection)
      let (known, version) = memory.withLock { ($0.header, $0.headerVersion) }
      guard let header, header == known, version == headerVersion,
        let manifest = try Manifest.stored(in: connection, keys)
      else { return false }
      let latest = try SeenCommits.latest(in: connection, past).manifest ?? 0
      let generation = Int64(clamping: manifest.generation)
      guard VaultRows.isFarBeyond(latest, generation) else { return false }
      seen.noteRestoration(of: header)
      return true
    } ?? false
  }
}
