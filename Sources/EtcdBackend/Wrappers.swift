public import StorageCore

/// A property in etcd; `nil` when there is no value.
///
/// See `Store`.
///
///     @Etcd("username") var username: String?
public typealias Etcd<Value> = Store<Value, EtcdStorage>

/// A `Codable` property in etcd; `nil` when there is no value.
///
/// See `CodableStore`.
///
///     @CodableEtcd("user") var user: User?
public typealias CodableEtcd<Value: Codable> = CodableStore<Value, EtcdStorage>

/// A property in etcd; its default when there is no value.
///
/// See `UnwrappedStore`.
///
///     @UnwrappedEtcd("launches") var launches = 0
public typealias UnwrappedEtcd<Value> = UnwrappedStore<Value, EtcdStorage>

/// A `Codable` property in etcd; its default when there is no value.
///
/// See `UnwrappedCodableStore`.
public typealias UnwrappedCodableEtcd<Value: Codable> = UnwrappedCodableStore<
  Value, EtcdStorage
>

/// A property in etcd, read from memory and observed; see `Live`.
///
///     @LiveEtcd("theme") var theme = "dark"
///     @LiveEtcd("token") var token: String?
public typealias LiveEtcd<Property: Sendable & Equatable> = Live<Property, EtcdStorage>
