internal import StorageCore

internal import struct FoundationEssentials.Data

/// The source or destination of a migration: a key's place, and the conversion between bytes and
/// value.
struct MigrationEnd: Sendable {
  /// The domain and the name of the key.
  let label: String
  let name: String
  let domain: StorageDomain
  /// The entry that the ledger would hold for a value stored here.
  let entry: Ledger.Entry
  let place: any ValuePlace
  /// Replaces the stored bytes if they equal the first argument, and notifies observers of the
  /// place.
  let exchange: @Sendable (Data?, Data?) throws(StorageError) -> Bool
  /// The serialized value of stored bytes.
  let open: @Sendable (Data) async throws(StorageError) -> Data
  /// The bytes to store for a serialized value.
  let seal: @Sendable (Data) async throws(StorageError) -> Data
  /// Refuses serialized bytes that are not a value of the key.
  let check: @Sendable (Data) throws(StorageError) -> Void
  /// Whether two serialized values are the same.
  let areEqual: @Sendable (Data, Data) -> Bool
  /// Records the choice of the keychain's place, if the key needs one.
  let recordKeychain: @Sendable () throws(StorageError) -> Void
  /// Refuses a key whose value is stored in another way.
  let requireNoConflict: @Sendable () throws(StorageError) -> Void

  var address: PlaceAddress { entry.address }

  /// Whether the ledger's entry is for this end.
  func isWhere(_ recorded: Ledger.Entry) -> Bool {
    recorded.address == entry.address && recorded.protection == entry.protection
  }
}

extension RouterCore {
  /// The end of a key under a configuration.
  func end<Key: StorageKey>(
    of key: Key, under state: RouterState
  ) throws(StorageError) -> MigrationEnd {
    do throws(StorageError) {
      let resolution = try resolve(key, state)
      let route = try makeRoute(key, resolution, state)
      let needsKeychain = key.needsKeychain
      return MigrationEnd(
        label: "\(key.domain)/\(key.name)", name: key.name, domain: key.domain,
        entry: resolution.entry, place: route.place,
        exchange: { (old, new) throws(StorageError) in try route.exchange(old, new) },
        open: { (stored) async throws(StorageError) in try await route.serialized(stored) },
        seal: { (serialized) async throws(StorageError) in try await route.sealed(serialized) },
        check: { (serialized) throws(StorageError) in try route.check(serialized) },
        areEqual: { (one, other) in
          one == other || ValueEquality.areEqual(Key.Value.self, key.serializer, one, other)
        },
        recordKeychain: { [self] () throws(StorageError) in
          if needsKeychain { try recordKeychain(resolution.keychain) }
        },
        requireNoConflict: { [self] () throws(StorageError) in
          try requireNoConflict(key, resolution)
        })
    } catch {
      throw error.about(key.name)
    }
  }
}

/// Compares serialized values by their decoded values, if the type is Equatable.
///
/// A set has no order, so one value of it may be serialized in several ways.
private enum ValueEquality {
  static func areEqual<Value: Codable>(
    _ type: Value.Type, _ serializer: Serializer, _ one: Data, _ other: Data
  ) -> Bool {
    do throws(StorageError) {
      guard let left = try serializer.decode(Value.self, one) as? any Equatable else {
        return false
      }
      return isEqual(left, try serializer.decode(Value.self, other))
    } catch {
      // Values that can't be decoded count as different, so both stay.
      return false
    }
  }

  private static func isEqual<Left: Equatable>(_ left: Left, _ right: Any) -> Bool {
    left == right as? Left
  }
}
