/// What a migration does with a key that already has another value in the destination.
public enum MigrationConflictPolicy: Hashable, Sendable {
  /// Both values stay where they are, and the report names the key.
  case keepBoth
  /// The source's value replaces the destination's value.
  ///
  /// If the destination's value can't be opened, both stay.
  case replace
}

/// What happened to the values of a migration.
public struct MigrationReport: Hashable, Sendable {
  /// The number of values that were written to the destination and read back.
  public internal(set) var copied = 0
  /// The number of values that the destination already held, byte for byte.
  public internal(set) var alreadyThere = 0
  /// Keys that have another value in the destination, or an unreadable one.
  ///
  /// Both values were left unchanged.
  public internal(set) var conflicts: [StoreKey] = []
  /// The number of source records that can't be opened.
  ///
  /// These are damaged records, records sealed with another authentication tag, and records that a
  /// vault should have but lacks. They were left unchanged.
  public internal(set) var unreadable = 0
  /// The number of values that were removed from the source.
  ///
  /// A value that was copied, and then saved again in the source before it could be removed, does
  /// not count.
  public internal(set) var removed = 0

  /// The report of a migration that found nothing.
  public init() {}
}
