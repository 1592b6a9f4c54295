internal import CryptoCore
internal import StorageCore

/// What a router was told: its configuration, its catalogs, and the routes that follow from them.
struct RouterState: Sendable {
  var storage = StorageConfiguration()
  var encryption = EncryptionConfiguration()
  var files = FileStorageConfiguration()
  var sync = SyncConfiguration()
  var providers: [KeyMaterialSource: any KeyMaterialProviding] = [:]
  var passcode: (@Sendable () throws -> SecureBytes?)?
  /// The catalogs that were registered, by the names of their types.
  var catalogs: [String: [AnyStorageKey]] = [:]
  /// The types of the keys in them.
  var registered: [RouteKey: Registration] = [:]
  /// Changes whenever routes are to be made anew.
  var generation = 0
  var routes: [RouteKey: any Sendable] = [:]

  /// Forgets the routes.
  mutating func startAnew() {
    generation += 1
    routes = [:]
  }
}

/// What a catalog says of a key.
struct Registration: Sendable {
  let catalog: String
  let declared: Declared
}

/// What a key declares beside its type, its name and its domain, as far as the router acts on it.
struct Declared: Sendable {
  private let security: SecurityPolicy
  private let serializer: Serializer.Form
  private let availability: PlatformAvailability
  private let syncPolicy: SyncPolicy

  init(_ key: some StorageKey) {
    security = key.security
    serializer = key.serializer.form
    availability = key.availability
    syncPolicy = key.syncPolicy
  }

  /// Whether a key says the same.
  func isOf(_ key: some StorageKey) -> Bool {
    security == key.security && serializer == key.serializer.form && syncPolicy == key.syncPolicy
      && availability == key.availability
  }
}

/// Tells keys apart: two of one type, domain and name are the same.
struct RouteKey: Hashable, Sendable {
  let type: ObjectIdentifier
  let name: String
  let domain: StorageDomain

  init<Key: StorageKey>(_ key: Key) {
    type = ObjectIdentifier(Key.self)
    name = key.name
    domain = key.domain
  }
}

/// A route and what its key said when it was made.
final class KnownRoute<Value: Codable & Sendable>: Sendable {
  let route: Route<Value>
  private let declared: Declared

  init(_ route: Route<Value>, _ key: some StorageKey) {
    self.route = route
    declared = Declared(key)
  }

  /// Whether a key says the same.
  func isOf(_ key: some StorageKey) -> Bool { declared.isOf(key) }
}
