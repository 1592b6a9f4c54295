/// When a write to a suite is on disk.
public enum DefaultsDurability: Hashable, Sendable {
  /// Before the write returns. A write costs two fsync(2); threads that write at once share them.
  case immediate

  /// Within a time after the write has returned, and when the process exits or calls `flush()`.
  ///
  /// For values that change often and may be lost: until then, a kill or a power cut loses them,
  /// and other processes don't see them. What is there from before is not at risk. The time is at
  /// most two seconds; more is taken as two. Writes with a condition (`saveIfAbsent`, `update`,
  /// defaults) are always immediate and take the waiting ones with them. When a write in the
  /// background fails, `StorageDiagnostics` is told, it is tried again each second, and further
  /// writes are immediate until one succeeds, so that the caller gets the error. A process that
  /// wants to change the suite's keys waits for the waiting writes of the others, which are sealed
  /// under them.
  case coalesced(within: Duration)
}
