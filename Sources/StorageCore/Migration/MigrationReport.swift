/// What a migration does with a key that has another value in the destination already.
public enum MigrationConflictPolicy: Hashable, Sendable {
  /// Both values stay where they are, and the report names the key.
  case keepBoth
  /// The source's value replaces the destination's, unless that can't be opened: then both stay.
  case replace
}

/// What became of the values of a migration.
public struct MigrationReport: Hashable, Sendable {
  /// Values that were written to the destination and read back.
  public internal(set) var copied = 0
  /// Values that the destination had already, byte for byte.
  public internal(set) var alreadyThere = 0
  /// Keys with another value in the destination, or one that can't be opened there.
  ///
  /// Both values were left as they are.
  public internal(set) var conflicts: [StoreKey] = []
  /// Records of the source that can't be opened: damaged ones, those of another authentication tag,
  /// and those that a vault should have and lacks.
  ///
  /// They were left as they are.
  public internal(set) var unreadable = 0
  /// Values that were removed from the source.
  ///
  /// One that was copied, and was saved again in the source before it could be removed, is not among
  /// them.
  public internal(set) var removed = 0

  /// The report of a migration that found nothing.
  public init() {}
}
