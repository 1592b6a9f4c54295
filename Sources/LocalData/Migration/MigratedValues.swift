public import CryptoCore
public import StorageCore

internal import struct FoundationEssentials.Data

/// The values of a migration's sources, while one value is made from them.
public struct MigratedValues: Sendable {
  private let values: [String: Data]
  private let sources: [AnyStorageKey]

  init(_ sources: [AnyStorageKey], _ serialized: [Data?]) {
    self.sources = sources
    var values: [String: Data] = [:]
    for (source, bytes) in zip(sources, serialized) { values[source.description] = bytes }
    self.values = values
  }

  /// The value of a source.
  ///
  /// - Parameter key: one of the sources.
  /// - Returns: the value, or nil if the source has none.
  /// - Throws: `StorageError`: `invalid` for a key that is not a source of the migration,
  ///   `typeMismatch` if the stored bytes are not a value of the key.
  public func value<Key: StorageKey>(of key: Key) throws(StorageError) -> Key.Value? {
    let name = AnyStorageKey(key).description
    guard sources.contains(where: { $0.description == name }) else {
      throw StorageError(.invalid, "the key is not a source of the migration", key: key.name)
    }
    guard let bytes = values[name] else { return nil }
    do throws(StorageError) {
      return try key.serializer.decode(Key.Value.self, bytes)
    } catch {
      throw error.about(key.name)
    }
  }
}

extension MigratedValues: RedactedDescription {
  /// The names of the sources, and no value.
  public var description: String { "MigratedValues(\(sources))" }
}
