import Configuration
import Foundation
import SecureConfiguration
import SecureService
import StorageCore

/// The services behind the administrator's routes and `/health`.
protocol Administration: Sendable {
  /// Whether this is the administrator's password, as configured now.
  func isAdministrator(_ password: String) async throws -> Bool
  /// Seals all values under a new key, while other requests read and write.
  func rotate() async throws
  /// The state of the stores.
  func health() async -> [StorageHealth]
}

/// The administration of the running service.
struct ServiceAdministration: Administration {
  let store: DelegatedStorage
  let stores: StorageService
  private let secrets: ConfigReader

  init(store: DelegatedStorage, stores: StorageService) {
    self.store = store
    self.stores = stores
    // Only the store: arguments and variables of a process can be seen by others.
    secrets = ConfigReader(provider: SecureStorageProvider(store))
  }

  // Fetched for each request: a new password in the store takes effect at once, without a restart.
  func isAdministrator(_ password: String) async throws -> Bool {
    let expected = try await secrets.fetchRequiredString(forKey: "admin.password", isSecret: true)
    let (given, right) = (Array(password.utf8), Array(expected.utf8))
    guard !right.isEmpty, given.count == right.count else { return false }
    return zip(given, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  func rotate() async throws {
    _ = try await store.keyAdministration.async { try $0.rotateDataKey() }
  }

  func health() async -> [StorageHealth] { stores.health }
}
