public import CryptoCore

internal import struct Foundation.Data

/// The move of a value from where it was to the key that it is declared under now.
///
///     extension StorageKeys.UserToken {
///       var migration: StorageMigration? {
///         .move(from: StorageKeys.OldToken(), to: self)
///       }
///     }
///     let report = try await StorageRouter.shared.migrateAll()
///
/// A value that says what to do and does nothing: ``StorageRouter/migrate(for:from:dryRun:)`` and
/// ``StorageRouter/migrateAll(_:from:dryRun:progress:)`` run it. A run can be killed anywhere and started
/// again: the value is copied, read back and compared, and only then removed at the source.
public struct StorageMigration: Sendable {
  /// Which value counts where source and destination hold different ones.
  public enum Winner: Hashable, Sendable {
    /// None: both stay, and the migration is the error `conflict`.
    case neither
    /// The source's replaces the destination's.
    case source
    /// The destination's stays, and the source's is removed.
    case destination
  }

  /// The keys that the value comes from.
  public let sources: [AnyStorageKey]
  /// The key that the value goes to.
  public let destination: AnyStorageKey
  /// Which value counts where source and destination hold different ones.
  public private(set) var winner = Winner.neither
  /// All have to be true.
  private(set) var conditions: [@Sendable () async throws -> Bool] = []
  /// Makes the serialized value of the destination of those of the sources; nil leaves them.
  let produce: @Sendable ([Data?]) throws -> Data?

  private init(
    _ sources: [AnyStorageKey], _ destination: AnyStorageKey,
    _ produce: @escaping @Sendable ([Data?]) throws -> Data?
  ) {
    self.sources = sources
    self.destination = destination
    self.produce = produce
  }

  /// Moves a value as it is, to another name, another domain or another protection.
  ///
  /// - Parameters:
  ///   - source: where the value was.
  ///   - destination: where it belongs.
  /// - Returns: the migration.
  public static func move<Source: StorageKey, Destination: StorageKey>(
    from source: Source, to destination: Destination
  ) -> StorageMigration where Source.Value == Destination.Value {
    transform(from: source, to: destination) { $0 }
  }

  /// Moves a value and changes it on the way.
  ///
  /// - Parameters:
  ///   - source: where the value was.
  ///   - destination: where it belongs.
  ///   - body: makes the new value; nil leaves the old one where it is. It may run more than once.
  /// - Returns: the migration.
  public static func transform<Source: StorageKey, Destination: StorageKey>(
    from source: Source, to destination: Destination,
    _ body: @escaping @Sendable (Source.Value) throws -> Destination.Value?
  ) -> StorageMigration {
    combine([.key(source)], into: destination) { values in
      try values.value(of: source).flatMap(body)
    }
  }

  /// Makes one value of several.
  ///
  ///     .combine([.key(First()), .key(Last())], into: Name()) { values in
  ///       Name.Value(first: try values.value(of: First()), last: try values.value(of: Last()))
  ///     }
  ///
  /// - Parameters:
  ///   - sources: where the values were; at least one of them has a value when `body` runs.
  ///   - destination: where the new value belongs; none of the sources.
  ///   - body: makes the new value; nil leaves the old ones where they are. It may run more than once.
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

  /// The same migration, when a condition is met; else the values stay, and the outcome is `skipped`.
  ///
  /// - Parameter condition: asked before anything is copied. A copy that was interrupted is finished
  ///   without asking again.
  /// - Returns: the migration with the condition.
  public func when(
    _ condition: @escaping @Sendable () async throws -> Bool
  ) -> StorageMigration {
    var result = self
    result.conditions.append(condition)
    return result
  }

  /// The same migration, with a rule for where source and destination hold different values.
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
