/// When a write to a suite is on disk.
public enum DefaultsDurability: Hashable, Sendable {
  /// Before the write returns.
  ///
  /// A write costs two fsync(2) calls, which concurrent writers share.
  case immediate

  /// When the system writes it, as with Foundation's `UserDefaults`: within some 30 seconds.
  ///
  /// For values that change often. The file is replaced as a whole, but the write does not wait for
  /// the disk. Other processes see it when it has returned, and a kill loses nothing. A power cut
  /// loses the last seconds. On a file system that may rename a file before its content is on disk,
  /// such as XFS, it can leave an empty file, and then every read is `damaged`: keep a backup there.
  ///
  /// Writes with a condition (`saveIfAbsent`, `update`, transactions that read, defaults) and changes of
  /// the suite's keys are always immediate, and make the earlier writes durable.
  case unsynchronized
}
