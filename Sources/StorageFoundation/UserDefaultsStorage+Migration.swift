public import DefaultsBackend
public import Foundation
public import StorageCore

/// What happened to the keys of a migration.
public struct DefaultsMigration: Hashable, Sendable {
  /// Keys whose values are now sealed and no longer in the `UserDefaults`.
  public internal(set) var moved: [StoreKey] = []
  /// Keys that already had another sealed value, or whose plain value changed during the migration.
  ///
  /// Both values were left unchanged.
  public internal(set) var conflicting: [StoreKey] = []
  /// Keys that have no value in the `UserDefaults`.
  public internal(set) var absent: [StoreKey] = []
}

extension UserDefaultsStorage {
  /// Moves plain values of the application's `UserDefaults` into this storage.
  ///
  /// First every value is sealed and read back. Only then are the plain values removed from
  /// `defaults`, and `defaults` is synchronised. A value is therefore always in at least one place.
  /// If a migration is interrupted, run it again: a plain value that equals the sealed one is then
  /// removed. What `defaults` shows may come from its file or from `register(defaults:)`; only
  /// values in the file can be removed. The plain bytes may remain in free blocks of the disk and
  /// in backups.
  ///
  /// A sealed value is never replaced: another plain value of its key is reported in
  /// ``DefaultsMigration/conflicting``. But if the key has no sealed value, the plain one is taken,
  /// whoever wrote it. So call this once: if a program calls it at each start, whoever can write to
  /// the plain file can give a value to a key that has none, also to one that was removed.
  ///
  /// A plain value that somebody has changed since it was read is not removed. To see other
  /// processes' changes, `defaults` is synchronised before the comparison. `UserDefaults` can't
  /// compare and remove in one step, so a change made between the two is lost. Migrate before other
  /// threads and processes write these keys.
  ///
  /// Migrations of one process take turns: of several at once, one moves a key, and the others
  /// report it as ``DefaultsMigration/absent``.
  ///
  /// A value is stored with the type that `defaults` returns. On Linux, two types differ from what
  /// was set. A `URL` is kept as the `String` of its path, without scheme and host. A `Float` that
  /// comes from the file is a `Double` of the same value, so read it with `double(forKey:)`. Save
  /// these values again with the type that the program reads. A raw value is read as the type that
  /// has it, whether or not that type is `Codable`.
  ///
  /// - Parameters:
  ///   - defaults: holds the plain values.
  ///   - keys: the keys to move; they stay the same. One that is given twice is reported once.
  /// - Returns: what happened to each key.
  /// - Throws: `StorageError`. No plain value was then removed, with one exception: the code `io`,
  ///   whose message says so, when `defaults` could not be synchronised.
  public func migrate(
    from defaults: UserDefaults, keys: [StoreKey]
  ) throws(StorageError) -> DefaultsMigration {
    // Held while files are read and written: a migration is no work that others wait for.
    Self.turn.lock()
    defer { Self.turn.unlock() }
    return try migrateAlone(from: defaults, keys: keys)
  }

  /// The turn of a migration; recursive, since a receiver of a report may migrate, too.
  private static let turn = NSRecursiveLock()

  private func migrateAlone(
    from defaults: UserDefaults, keys: [StoreKey]
  ) throws(StorageError) -> DefaultsMigration {
    var migration = DefaultsMigration()
    var sealed: [(key: StoreKey, value: PlainValue)] = []
    // By their bytes, since strings that are equal may be two keys.
    var seen: Set<[UInt8]> = []
    for key in keys where seen.insert(Array(key.utf8)).inserted {
      guard let plain = defaults.object(forKey: key) else {
        migration.absent.append(key)
        continue
      }
      let value = PlainValue(plain)
      // Durable, whatever the storage promises of other writes.
      try saveIfAbsent(value.content, forKey: key)
      if let found = try load(Any.self, forKey: key), value.isSame(as: found) {
        sealed.append((key, value))
      } else {
        migration.conflicting.append(key)
      }
    }
    guard !sealed.isEmpty else { return migration }
    // If this fails, the call below fails as well and throws.
    _ = defaults.synchronize()
    for (key, value) in sealed {
      // If the plain value is gone, somebody else removed it: the sealed one remains.
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
        "the values are sealed, but UserDefaults could not write its file, which may still hold them "
          + "as plain values; migrate again")
    }
    return migration
  }
}

/// A value of a `UserDefaults`, converted to types that the storage knows.
private struct PlainValue {
  let content: Any

  /// Foundation's containers may hold optionals, and keys of any type.
  init(_ value: Any) {
    content = Self.plain(value)
  }

  func isSame(as other: Any) -> Bool { Self.isSame(content, other) }

  private static func plain(_ value: Any) -> Any {
    switch value {
    case let values as [Any]: values.map { plain($0) }
    case let values as [String: Any]: values.mapValues { plain($0) }
    // The cast unwraps an optional of Any.
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
    // A value that was set as a Float is read from the file as a Double.
    case (let one as Float, let other as Double): Double(one).bitPattern == other.bitPattern
    case (let one as Double, let other as Float): one.bitPattern == Double(other).bitPattern
    default:
      type(of: one) == type(of: other) && one is AnyHashable
        && one as? AnyHashable == other as? AnyHashable
    }
  }
}
