/// What became of a vault that was restored.
public struct VaultRestoration: Hashable, Sendable {
  /// How many records the vault holds now, those of other authentication tags included.
  public let recordCount: Int
  /// The path under which the old file stays, or nil when it was not replaced: then everything in
  /// it was.
  public let oldFile: String?
}
