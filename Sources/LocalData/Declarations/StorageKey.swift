/// A piece of stored data, declared: where it is kept, how it is protected, whose it is and what for.
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
/// A promise of who declares one: two keys of one domain and one name are the same data, and have one
/// type. ``StorageRouter/registerCatalog(_:)`` checks that. A key is a small value that is made wherever
/// it is needed; ``StoredKey`` is one that needs no type of its own.
public protocol StorageKey<Value>: Sendable {
  /// The type of the value.
  associatedtype Value: Codable & Sendable

  /// The name: 1 to 200 UTF-8 bytes without control characters. It stays the same for good.
  var name: String { get }
  /// Where the value is kept.
  var domain: StorageDomain { get }
  /// How the value is protected there; ``SecurityPolicy/recommended`` unless said otherwise.
  var security: SecurityPolicy { get }
  /// How the value becomes bytes; ``Serializer/json`` unless said otherwise.
  var serializer: Serializer { get }
  /// The part of the program, or the team, that answers for the data.
  var owner: String { get }
  /// What the data is, for a person who reviews it. Never empty.
  var description: String { get }
  /// On which machines the key may be used; ``PlatformAvailability/all`` unless said otherwise.
  var availability: PlatformAvailability { get }
  /// Whether the value goes to other machines; ``SyncPolicy/never`` unless said otherwise.
  var syncPolicy: SyncPolicy { get }
  /// Where the value was before this key was declared; nil unless said otherwise.
  ///
  /// Nothing moves by itself: see ``StorageRouter/migrate(for:from:dryRun:)``.
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
  /// None.
  public var migration: StorageMigration? { nil }
}
