/// What a vault is opened for.
public enum VaultAccess: Hashable, Sendable {
  /// Reading and writing; the file is made at the first write.
  case readWrite
  /// Reading alone: the file is not changed, and every write is the error `readOnly`.
  ///
  /// Works on media that can't be written to as well.
  case readOnly
}
