/// The list of all keys of a program, or of a part of it.
///
///     struct AppStorageCatalog: StorageKeyCatalog {
///       static var allKeys: [AnyStorageKey] {
///         [.key(StorageKeys.Theme()), .key(StorageKeys.UserToken())]
///       }
///     }
///
/// A conforming type promises: it lists each key once, and the same keys each time. See
/// ``StorageRouter/registerCatalog(_:)``.
public protocol StorageKeyCatalog {
  /// All keys.
  static var allKeys: [AnyStorageKey] { get }
}
