/// What a vault is opened for.
public enum VaultAccess: Hashable, Sendable {
  /// Reading and writing; the file is made at the first write.
  case readWrite
  /// Read-only: no value is changed, and every write throws `readOnly`.
  ///
  /// Also works on media that can't be written to. Elsewhere SQLite makes and uses its files beside
  /// the vault, and undoes what a writer that died has left half done.
  case readOnly
}
