public import CryptoCore

internal import struct FoundationEssentials.Data

/// Describes how a value moves from its former place to the key that now declares it.
///
///     extension StorageKeys.UserToken {
///       var migration: StorageMigration? {
///         .move(from: StorageKeys.OldToken(), to: self)
///       }
///     }
///     let report = try await StorageRouter.shared.migrateAll()
///
/// Creating a migration moves nothing: ``StorageRouter/migrate(for:from:dryRun:)`` and
/// ``StorageRouter/migrateAll(_:from:dryRun:progress:)`` run it. A run can be killed at any point
/// and started again: the value is copied, read back and compared, and only then removed at the
/// source.
public struct StorageMigration: Sendable {
  /// Which value to keep if source and destination hold different ones.
  public enum Winner: Hashable, Sendable {
    /// Neither is chosen: both stay, and the migration throws `conflict`.
    case neither
    /// The source's value replaces the destination's.
    case source
    /// The destination's value stays, and the source's is removed.
    case destination
  }

  /// The keys that hold the value now.
  public let sources: [AnyStorageKey]
  /// The key that will hold the value.
  public let destination: AnyStorageKey
  /// Which value to keep if source and destination hold different ones.
  public private(set) var winner = Winner.neither
  /// The migration runs only if all conditions are true.
  private(set) var conditions: [@Sendable () async throws -> Bool] = []
  /// Makes the destination's serialized value from those of the sources; nil leaves the sources
  /// unchanged.
  let produce: @Sendable ([Data?]) throws -> Data?

  private init(
    _ sources: [AnyStorageKey], _ destination: AnyStorageKey,
    _ produce: @escaping @Sendable ([Data?]) throws -> Data?
  ) {
    self.sources = sources
    self.destination = destination
    self.produce = produce
  }

  /// Moves a value unchanged to another name, another domain or another protection.
  ///
  /// - Parameters:
  ///   - source: the former key.
  ///   - destination: the new key.
  /// - Returns: the migration.
  public static func move<Source: StorageKey, Destination: StorageKey>(
    from source: Source, to destination: Destination
  ) -> StorageMigration where Source.Value == Destination.Value {
    transform(from: source, to: destination) { $0 }
  }

  /// Moves a value and transforms it.
  ///
  /// - Parameters:
  ///   - source: the former key.
  ///   - destination: the new key.
  ///   - body: makes the new value; nil leaves the old value in place. `body` may run more than
  ///     once.
  /// - Returns: the migration.
  public static func transform<Source: StorageKey, Destination: StorageKey>(
    from source: Source, to destination: Destination,
    _ body: @escaping @Sendable (Source.Value) throws -> Destination.Value?
  ) -> StorageMigration {
    combine([.key(source)], into: destination) { values in
      try values.value(of: source).flatMap(body)
    }
  }

  /// Combines several values into one.
  ///
  ///     .combine([.key(First()), .key(Last())], into: Name()) { values in
  ///       Name.Value(first: try values.value(of: First()), last: try values.value(of: Last()))
  ///     }
  ///
  /// - Parameters:
  ///   - sources: the former keys; at least one of them has a value when `body` runs.
  ///   - destination: the new key; must not be one of the sources.
  ///   - body: makes the new value; nil leaves the old values in place. `body` may run more than
  ///     once.
  /// - Returns: the migration.
  public static func combine<Destination: StorageKey>(
    _ sources: [AnyStorageKey], into destination: Destination,
    _ body: @escaping @Sendable (MigratedValues) throws -> Destination.Value?
  ) -> StorageMigration {
    StorageMigration(sources, .key(destination)) { serialized in
      guard let value = try body(MigratedValues(sources, serialized)) else { return nil }
      return try destination.serializer.encode(value)
    }
  }

  /// Adds a condition; if it is false, the values stay, and the outcome is `skipped`.
  ///
  /// A migration whose condition is false is not finished, even if its sources have no value yet.
  ///
  /// - Parameter condition: called before anything is copied. An interrupted migration is finished
  ///   without another call.
  /// - Returns: the migration with the condition.
  public func when(
    _ condition: @escaping @Sendable () async throws -> Bool
  ) -> StorageMigration {
    var result = self
    result.conditions.append(condition)
    return result
  }

  /// Adds a rule for the case that source and destination hold different values.
  public func preferring(_ winner: Winner) -> StorageMigration {
    var result = self
    result.winner = winner
    return result
  }
}

extension StorageMigration: RedactedDescription {
  /// The sources and the destination, by domain and name.
  public var description: String {
    "\(sources.map(\.description).joined(separator: ", ")) to \(destination)"
  }
}
