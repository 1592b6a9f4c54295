/// What a vault is opened for.
public enum VaultAccess: Hashable, Sendable {
  /// Reading and writing; the first write creates a missing file.
  case readWrite
  /// Reading only: no value is changed, and every write throws `readOnly`.
  ///
  /// It also works on a medium that can't be written to. Elsewhere SQLite creates and uses its
  /// files beside the vault, and undoes the unfinished transaction of a writer that died.
  case readOnly
}
