public import StorageCore

/// A sealed property in the program's memory; `nil` when there is no value.
///
/// See `Store`.
///
///     @Singleton("sessionToken") var sessionToken: String?
public typealias Singleton<Value> = Store<Value, SingletonStorage>

/// A sealed `Codable` property in the program's memory; `nil` when there is no value.
///
/// See `CodableStore`.
public typealias CodableSingleton<Value: Codable> = CodableStore<Value, SingletonStorage>

/// A sealed property in the program's memory; it has its default when there is no value.
///
/// See `UnwrappedStore`.
///
///     @UnwrappedSingleton("attempts") var attempts = 0
public typealias UnwrappedSingleton<Value> = UnwrappedStore<Value, SingletonStorage>

/// A sealed `Codable` property in the program's memory; it has its default when there is no value.
///
/// See `UnwrappedCodableStore`.
public typealias UnwrappedCodableSingleton<Value: Codable> = UnwrappedCodableStore<
  Value, SingletonStorage
>

/// A property in the program's memory, observable and read without decryption; see `Live`.
///
///     @LiveSingleton("theme") var theme = "dark"
///     @LiveSingleton("token") var token: String?
public typealias LiveSingleton<Property: Sendable & Equatable> = Live<Property, SingletonStorage>
