public import CryptoCore

/// The keys by which a delegate authenticates all of its records together.
///
/// Each record's own seal can't tell that a record was removed, or put back as it was. A delegate
/// that keeps a manifest can: docs/file-format.md, section "Vault".
public struct ManifestKeys: Sendable {
  /// Hashes single records; the same key for as long as names hash alike.
  public let records: KeyedHash
  /// Hashes single removals; lasts as long as ``records``.
  public let removals: KeyedHash
  /// Seals the manifest; another key with each new primary data key.
  public let manifest: SealingKey
  /// Authenticates manifests of version 1, which were not encrypted; lasts as long as ``manifest``.
  public let former: AuthenticationKey

  /// Keys that were derived already.
  public init(
    records: KeyedHash, removals: KeyedHash, manifest: SealingKey, former: AuthenticationKey
  ) {
    self.records = records
    self.removals = removals
    self.manifest = manifest
    self.former = former
  }
}
