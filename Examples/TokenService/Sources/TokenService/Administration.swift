import Configuration
import Foundation
import SecureService
import StorageCore
import VaultBackend

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
  let config: ConfigReader
  let vault: VaultStorage
  let stores: StorageService

  // Fetched for each request: a new password in the vault takes effect at once, without a restart.
  func isAdministrator(_ password: String) async throws -> Bool {
    let expected = try await config.fetchRequiredString(forKey: "admin.password", isSecret: true)
    let (given, right) = (Array(password.utf8), Array(expected.utf8))
    return given.count == right.count && zip(given, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  func rotate() async throws { _ = try await vault.keyAdministration.rotateDataKeyAsync() }

  func health() async -> [StorageHealth] { stores.health }
}
