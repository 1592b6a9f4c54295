public import Foundation
public import StorageCore

/// What became of the keys of a migration.
public struct DefaultsMigration: Hashable, Sendable {
  /// Keys whose value is sealed now and no longer in the `UserDefaults`.
  public internal(set) var moved: [StoreKey] = []
  /// Keys that already had another sealed value, or whose plain value was changed meanwhile.
  ///
  /// Both values were left as they are.
  public internal(set) var conflicting: [StoreKey] = []
  /// Keys without a value in the `UserDefaults`.
  public internal(set) var absent: [StoreKey] = []
}

extension UserDefaultsStorage {
  /// Moves plain values of the application's `UserDefaults` into this storage.
  ///
  /// Each is sealed and read back first; only when all are, they are removed from `defaults`, and
  /// that is synchronised. So a value is always in one place at least, and a migration that was
  /// interrupted is simply made again: a plain value that equals the sealed one is then removed.
  /// What `defaults` shows may come from its file or from `register(defaults:)`; only the former
  /// can be removed. The plain bytes may linger in free blocks of the disk and in backups.
  ///
  /// A plain value that somebody changed since it was read is not removed: before that, `defaults`
  /// is synchronised, which shows other processes' changes, and compared. `UserDefaults` has no step
  /// that compares and removes at once, so a change made in the moment between is lost. Migrate
  /// before other threads and processes write these keys.
  ///
  /// A value moves as the type that `defaults` gives. On Linux that differs from what was set for
  /// two of them: a `URL` is kept as the `String` of its path, without scheme and host, and a
  /// `Float` that comes from the file is a `Double` of the same value, so that it is read with
  /// `double(forKey:)`. Save these anew, as the type that the program reads.
  ///
  /// - Parameters:
  ///   - defaults: where the plain values are.
  ///   - keys: the keys to move, which stay the same.
  /// - Returns: what became of each key.
  /// - Throws: `StorageError`: no plain value was then removed, except with the code `io` that says
  ///   so, when `defaults` could not be synchronised.
  public func migrate(
    from defaults: UserDefaults, keys: [StoreKey]
  ) throws(StorageError) -> DefaultsMigration {
    var migration = DefaultsMigration()
    var sealed: [(key: StoreKey, value: PlainValue)] = []
    for key in keys {
      guard let plain = defaults.object(forKey: key) else {
        migration.absent.append(key)
        continue
      }
      let value = PlainValue(plain)
      try saveIfAbsent(value.content, forKey: key)
      if let found = try load(Any.self, forKey: key), value.isSame(as: found) {
        sealed.append((key, value))
      } else {
        migration.conflicting.append(key)
      }
    }
    try flush()
    guard !sealed.isEmpty else { return migration }
    // Where this fails, the one below fails as well and says so.
    _ = defaults.synchronize()
    for (key, value) in sealed {
      // Removed by somebody else: then it is in one place as well.
      let isUnchanged = defaults.object(forKey: key).map {
        value.isSame(as: PlainValue($0).content)
      }
      guard isUnchanged ?? true else {
        migration.conflicting.append(key)
        continue
      }
      defaults.removeObject(forKey: key)
      migration.moved.append(key)
    }
    guard defaults.synchronize() else {
      throw StorageError(
        .io,
        "the values are sealed, but UserDefaults could not write its file, which may still hold "
          + "them; migrate again")
    }
    return migration
  }
}

/// A value of a `UserDefaults`, in the types that the storage knows.
private struct PlainValue {
  let content: Any

  /// Foundation's containers hold optionals, and keys of any type.
  init(_ value: Any) {
    content = Self.plain(value)
  }

  func isSame(as other: Any) -> Bool { Self.isSame(content, other) }

  private static func plain(_ value: Any) -> Any {
    switch value {
    case let values as [Any]: values.map { plain($0) }
    case let values as [String: Any]: values.mapValues { plain($0) }
    // The cast takes a value out of an optional of Any.
    default: (value as? any Hashable) ?? value
    }
  }

  private static func isSame(_ one: Any, _ other: Any) -> Bool {
    switch (one, other) {
    case (let one as [Any], let other as [Any]):
      one.count == other.count && zip(one, other).allSatisfy { isSame($0, $1) }
    case (let one as [String: Any], let other as [String: Any]):
      one.count == other.count
        && one.allSatisfy { key, value in other[key].map { isSame(value, $0) } ?? false }
    case (let one as Double, let other as Double): one.bitPattern == other.bitPattern
    case (let one as Float, let other as Float): one.bitPattern == other.bitPattern
    // What was set as a Float comes from the file as a Double.
    case (let one as Float, let other as Double): Double(one).bitPattern == other.bitPattern
    case (let one as Double, let other as Float): one.bitPattern == Double(other).bitPattern
    default:
      type(of: one) == type(of: other) && one is AnyHashable
        && one as? AnyHashable == other as? AnyHashable
    }
  }
}
