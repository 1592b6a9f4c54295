public import StorageCore

/// A property in UserDefaults, sealed; `nil` when there is no value.
///
/// See `Store`.
///
///     @UserDefault("username") var username: String?
public typealias UserDefault<Value> = Store<Value, UserDefaultsStorage>

/// A `Codable` property in UserDefaults, sealed; `nil` when there is no value.
///
/// See `CodableStore`.
///
///     @CodableUserDefault("user") var user: User?
public typealias CodableUserDefault<Value: Codable> = CodableStore<Value, UserDefaultsStorage>

/// A property in UserDefaults, sealed; its default when there is no value.
///
/// See `UnwrappedStore`.
///
///     @UnwrappedUserDefault("launches") var launches = 0
public typealias UnwrappedUserDefault<Value> = UnwrappedStore<Value, UserDefaultsStorage>

/// A `Codable` property in UserDefaults, sealed; its default when there is no value.
///
/// See `UnwrappedCodableStore`.
public typealias UnwrappedCodableUserDefault<Value: Codable> = UnwrappedCodableStore<
  Value, UserDefaultsStorage
>

/// A property in a suite of the user's configuration, read from memory and observed; see `Live`.
///
///     @LiveUserDefault("theme") var theme = "dark"
///     @LiveUserDefault("token") var token: String?
public typealias LiveUserDefault<Property: Sendable & Equatable> = Live<
  Property, UserDefaultsStorage
>
