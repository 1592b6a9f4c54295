public import StorageCore

/// What a repair left of a vault, or would leave.
public struct VaultRepair: Hashable, Sendable {
  /// How many values there are that open.
  public let valueCount: Int
  /// How many records stay that do not open: damaged ones, and those of another authentication tag.
  public let unreadableCount: Int
  /// How many of those were set aside, because the file was made anew before a rotation had ended
  /// their data key.
  ///
  /// Check them, then `keyAdministration.reencrypt(readmitting: true)` takes them back.
  public let setAsideCount: Int
  /// How many of those were removed, because that was asked for.
  public let droppedCount: Int
  /// How many of the records that stay are not proven by the manifest: they may be older than the
  /// last one written under their name, or removed since.
  ///
  /// The vault has 64 parts, and the manifest proves the records of a part together: if one of them
  /// is missing or old, all records of its part count here.
  public let unprovenCount: Int
  /// The key names of the unproven records that open, sorted.
  public let unprovenKeys: [StoreKey]
  /// How many records there were after the last write, or nil if that is unknown.
  public let expectedCount: Int?
  /// The path under which the old file stays, or nil when it was not replaced.
  public let oldFile: String?
}
