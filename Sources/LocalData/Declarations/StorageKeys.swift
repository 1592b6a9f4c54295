/// The namespace for an application's keys.
///
///     extension StorageKeys {
///       struct UserToken: StorageKey { ... }
///     }
public enum StorageKeys: Sendable {}
