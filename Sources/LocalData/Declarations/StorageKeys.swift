/// The namespace that an application's keys are in.
///
///     extension StorageKeys {
///       struct UserToken: StorageKey { ... }
///     }
public enum StorageKeys: Sendable {}
