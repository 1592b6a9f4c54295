/// When a write to a suite is on disk.
public enum DefaultsDurability: Hashable, Sendable {
  /// Before the write returns.
  ///
  /// A write costs two fsync(2) calls, which concurrent writers share.
  case immediate

  /// Within a time after the write has returned, and when the process exits or calls `flush()`.
  ///
  /// For values that change often and may be lost. Until a write is on disk, a kill or a power cut
  /// loses it, and other processes don't see it. Values that are already on disk are not at risk.
  ///
  /// The time is at most two seconds; a longer one counts as two. Writes with a condition
  /// (`saveIfAbsent`, `update`, defaults) are always immediate, and write the waiting ones with
  /// them.
  ///
  /// When a background write fails, `StorageDiagnostics` gets the error, and the write is tried
  /// again each second. Until one succeeds, further writes are immediate, so that their callers get
  /// the error.
  ///
  /// A process that wants to change the suite's keys first waits until the other processes have
  /// written their waiting writes, because those are sealed under the current keys.
  case coalesced(within: Duration)
}
