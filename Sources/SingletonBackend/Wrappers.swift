public import StorageCore

/// A property in the program's memory, sealed; `nil` when there is no value.
///
/// See `Store`.
///
///     @Singleton("sessionToken") var sessionToken: String?
public typealias Singleton<Value> = Store<Value, SingletonStorage>

/// A `Codable` property in the program's memory, sealed; `nil` when there is no value.
///
/// See `CodableStore`.
public typealias CodableSingleton<Value: Codable> = CodableStore<Value, SingletonStorage>

/// A property in the program's memory, sealed; its default when there is no value.
///
/// See `UnwrappedStore`.
///
///     @UnwrappedSingleton("attempts") var attempts = 0
public typealias UnwrappedSingleton<Value> = UnwrappedStore<Value, SingletonStorage>

/// A `Codable` property in the program's memory, sealed; its default when there is no value.
///
/// See `UnwrappedCodableStore`.
public typealias UnwrappedCodableSingleton<Value: Codable> = UnwrappedCodableStore<
  Value, SingletonStorage
>

/// A property in the program's memory, read from memory and observed; see `Live`.
///
///     @LiveSingleton("theme") var theme = "dark"
///     @LiveSingleton("token") var token: String?
public typealias LiveSingleton<Property: Sendable & Equatable> = Live<Property, SingletonStorage>
