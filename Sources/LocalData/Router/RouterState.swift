internal import CryptoCore
internal import StorageCore

/// A router's configuration and catalogs, and the routes that follow from them.
struct RouterState: Sendable {
  var storage = StorageConfiguration()
  var encryption = EncryptionConfiguration()
  var files = FileStorageConfiguration()
  var sync = SyncConfiguration()
  var providers: [KeyMaterialSource: any KeyMaterialProviding] = [:]
  var passcode: (@Sendable () throws -> SecureBytes?)?
  /// Whether new values may be weaker than the minimum; for tests, which need fast derivations.
  var waivesFloor = false
  /// The registered catalogs, by the names of their types.
  var catalogs: [String: [AnyStorageKey]] = [:]
  /// The types of the catalogs, by the same names.
  var catalogTypes: [String: ObjectIdentifier] = [:]
  /// The declarations of the keys in them.
  var registered: [RouteKey: Registration] = [:]
  /// Incremented whenever the routes must be created again.
  var generation = 0
  var routes: [RouteKey: any Sendable] = [:]

  /// Removes all routes.
  mutating func startAnew() {
    generation += 1
    routes = [:]
  }
}

/// The declaration of a key in a catalog.
struct Registration: Sendable {
  let catalog: String
  let declared: Declared
}

/// The parts of a key's declaration that the router acts on, besides type, name and domain.
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

  /// Whether a key has the same declaration.
  func isOf(_ key: some StorageKey) -> Bool {
    security == key.security && serializer == key.serializer.form && syncPolicy == key.syncPolicy
      && availability == key.availability
  }
}

/// Identifies a key: two keys with the same type, domain and name are the same.
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

/// A route, and the declaration of its key when the route was created.
final class KnownRoute<Value: Codable & Sendable>: Sendable {
  let route: Route<Value>
  private let declared: Declared

  init(_ route: Route<Value>, _ key: some StorageKey) {
    self.route = route
    declared = Declared(key)
  }

  /// Whether a key has the same declaration.
  func isOf(_ key: some StorageKey) -> Bool { declared.isOf(key) }
}
