/// What a repair left of a vault, or would leave.
public struct VaultRepair: Hashable, Sendable {
  /// How many values there are that open.
  public let valueCount: Int
  /// How many records stay that do not open: damaged ones, and those of another authentication tag.
  public let unreadableCount: Int
  /// How many of those were removed, because that was asked for.
  public let droppedCount: Int
  /// How many records there were when they were written last, or nil when that can't be known.
  public let expectedCount: Int?
  /// The path under which the old file stays, or nil when it was not replaced.
  public let oldFile: String?
}

/// What became of a vault that was restored.
public struct VaultRestoration: Hashable, Sendable {
  /// How many records the vault holds now, those of other authentication tags included.
  public let recordCount: Int
  /// The path under which the old file stays, or nil when it was not replaced: then everything in it
  /// was.
  public let oldFile: String?
}
