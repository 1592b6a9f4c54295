public import StorageCore

/// A sealed property in UserDefaults; `nil` when there is no value.
///
/// See `Store`.
///
///     @UserDefault("username") var username: String?
public typealias UserDefault<Value> = Store<Value, UserDefaultsStorage>

/// A sealed `Codable` property in UserDefaults; `nil` when there is no value.
///
/// See `CodableStore`.
///
///     @CodableUserDefault("user") var user: User?
public typealias CodableUserDefault<Value: Codable> = CodableStore<Value, UserDefaultsStorage>

/// A sealed property in UserDefaults; it has its default when there is no value.
///
/// See `UnwrappedStore`.
///
///     @UnwrappedUserDefault("launches") var launches = 0
public typealias UnwrappedUserDefault<Value> = UnwrappedStore<Value, UserDefaultsStorage>

/// A sealed `Codable` property in UserDefaults; it has its default when there is no value.
///
/// See `UnwrappedCodableStore`.
public typealias UnwrappedCodableUserDefault<Value: Codable> = UnwrappedCodableStore<
  Value, UserDefaultsStorage
>

/// A property in a suite of the user's configuration, read from memory and observable; see `Live`.
///
///     @LiveUserDefault("theme") var theme = "dark"
///     @LiveUserDefault("token") var token: String?
public typealias LiveUserDefault<Property: Sendable & Equatable> = Live<
  Property, UserDefaultsStorage
>
