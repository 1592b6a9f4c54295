/// A declared piece of stored data: where it is kept, how it is protected, who owns it and why it
/// exists.
///
///     extension StorageKeys {
///       struct Theme: StorageKey {
///         typealias Value = String
///         let name = "theme"
///         let domain: StorageDomain = .userDefaults
///         let owner = "Settings"
///         let description = "The theme that the user chose."
///       }
///     }
///
/// A conforming type promises: two keys with the same domain and name are the same data and have
/// the same type. ``StorageRouter/registerCatalog(_:)`` checks that. A key is a small value; create
/// one wherever you need it. ``StoredKey`` is a key that needs no type of its own.
public protocol StorageKey<Value>: Sendable {
  /// The type of the value, as in `typealias Value = String`.
  associatedtype Value: Codable & Sendable = UndeclaredValue

  /// The name: 1 to 200 UTF-8 bytes without control characters. Never change it.
  ///
  /// In `fileSystem` and `appGroupFileSystem`, each byte that is no ASCII letter, digit, dot, `-` or `_`
  /// counts three, and 240 are the limit.
  var name: String { get }
  /// Where the value is kept.
  var domain: StorageDomain { get }
  /// How the value is protected there; default ``SecurityPolicy/recommended``.
  var security: SecurityPolicy { get }
  /// How the value becomes bytes; default ``Serializer/json``.
  var serializer: Serializer { get }
  /// The part of the program, or the team, that is responsible for the data.
  var owner: String { get }
  /// What the data is, for people who review it. Never empty.
  var description: String { get }
  /// On which machines the key may be used; default ``PlatformAvailability/all``.
  var availability: PlatformAvailability { get }
  /// Whether the value is sent to other machines; default ``SyncPolicy/never``.
  var syncPolicy: SyncPolicy { get }
  /// Where the value was before this key was declared; default nil.
  ///
  /// Values move only when you call ``StorageRouter/migrate(for:from:dryRun:)``.
  var migration: StorageMigration? { get }
}

extension StorageKey {
  /// ``SecurityPolicy/recommended``.
  public var security: SecurityPolicy { .recommended }
  /// ``Serializer/json``.
  public var serializer: Serializer { .json }
  /// ``PlatformAvailability/all``.
  public var availability: PlatformAvailability { .all }
  /// ``SyncPolicy/never``.
  public var syncPolicy: SyncPolicy { .never }
  /// Nil.
  public var migration: StorageMigration? { nil }
}

/// The type of the value of a key that does not say it, which the compiler refuses.
public enum UndeclaredValue: Sendable {
  /// Stands for any value.
  case unknown
}

@available(*, unavailable, message: "say what the key's value is, as in `typealias Value = String`")
extension UndeclaredValue: Codable {}
