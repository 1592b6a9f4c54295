import Configuration
import EtcdBackend
import Foundation
import PostgresBackend
import SecureService
import StorageCore
import VaultBackend

/// The store of the service: a vault on this machine, or one that all instances of the service share,
/// with `ETCD_ENDPOINTS` in etcd, with `POSTGRES_CONNECTION` in PostgreSQL.
///
/// Nothing else in the service knows which one it is.
enum ServiceStore {
  /// The store that the environment names.
  static func find() throws(StorageError) -> DelegatedStorage {
    let environment = ProcessInfo.processInfo.environment
    let source = KeySource.firstAvailable(Program.keySources)
    if let connection = environment["POSTGRES_CONNECTION"] {
      let store = environment["POSTGRES_STORE"] ?? "token-service"
      return PostgresStorage(connection, store: store, keySource: source)
    }
    guard let endpoints = environment["ETCD_ENDPOINTS"] else { return VaultStorage.standard }
    return EtcdStorage(
      EtcdConfiguration(
        endpoints: endpoints.split(separator: ",").map(String.init),
        prefix: environment["ETCD_PREFIX"] ?? "/token-service"),
      keySource: source)
  }

  /// The SQL that makes the tables of a store in PostgreSQL, for their owner.
  static let tables = PostgresSchema.migration()

  /// Makes the store that the instances share, once.
  static func create() async throws {
    guard let storage = try find() as? RemoteStorage else {
      throw StorageError(
        .invalid,
        "only a store that instances share is made by a command, a vault by the first start")
    }
    try await storage.async { try $0.create() }
  }

  /// How the service opens, checks and closes it.
  static func managed(_ storage: DelegatedStorage, mustExist: Bool) -> ManagedStore {
    guard let vault = storage as? VaultStorage else {
      // A program that starts with a wrong address finds no store, and makes none.
      let name = storage is PostgresStorage ? "postgresql" : "etcd"
      return .storage(storage, named: name, existence: .mustExist)
    }
    return .vault(vault, existence: mustExist ? .mustExist : .madeIfMissing)
  }
}
