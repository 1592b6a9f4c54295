public import StorageCore

/// What a repair left of a vault, or would leave.
public struct VaultRepair: Hashable, Sendable {
  /// How many values there are that open.
  public let valueCount: Int
  /// How many records stay that do not open: damaged ones, and those of another authentication tag.
  public let unreadableCount: Int
  /// How many of those were set aside, since the file was made anew while a rotation was to end their data
  /// key: `keyAdministration.reencrypt(readmitting: true)` takes them back, after somebody has looked.
  public let setAsideCount: Int
  /// How many of those were removed, because that was asked for.
  public let droppedCount: Int
  /// How many of the values that open nothing but their own page led to: the file's tree was broken, and all
  /// pages were searched for records, each of which proves itself by its seal.
  public let walkedCount: Int
  /// How many of the records that stay may be older than what was written last under their name, or removed
  /// since: the manifest does not prove them.
  ///
  /// The manifest proves the records of a part of the vault, one of 64, together: where one of them is gone or
  /// old, all of its part count, however they were found.
  public let unprovenCount: Int
  /// The key names of those of them that open, sorted.
  public let unprovenKeys: [StoreKey]
  /// How many records there were when they were written last, or nil when that can't be known.
  public let expectedCount: Int?
  /// The path under which the old file stays, or nil when it was not replaced.
  public let oldFile: String?
}
