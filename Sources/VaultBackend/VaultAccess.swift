/// What a vault is opened for.
public enum VaultAccess: Hashable, Sendable {
  /// Reading and writing; the file is made at the first write.
  case readWrite
  /// Reading alone: no value is changed, and every write is the error `readOnly`.
  ///
  /// Works on media that can't be written to as well. Elsewhere SQLite's files beside the vault are made
  /// and used, and what a writer that died has left half done in the file is undone.
  case readOnly
}
