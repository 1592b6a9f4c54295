public import CryptoCore

/// The keys with which a delegate authenticates all of its records together.
///
/// The seal of a single record does not show that a record was removed, or replaced by an older
/// version of itself. The manifest of a delegate shows both: docs/file-format.md, section "Vault".
public final class ManifestKeys: Sendable {
  /// Hashes single records; stays the same as long as the key that hashes names.
  public let records: KeyedHash
  /// Hashes single removals; stays the same as long as ``records``.
  public let removals: KeyedHash
  /// Seals the manifest; changes with each new primary data key.
  public let manifest: SealingKey

  /// Holds keys that were already derived.
  public init(records: KeyedHash, removals: KeyedHash, manifest: SealingKey) {
    self.records = records
    self.removals = removals
    self.manifest = manifest
  }
}
