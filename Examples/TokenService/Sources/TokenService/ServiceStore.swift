import Configuration
import EtcdBackend
import Foundation
import SecureService
import StorageCore
import VaultBackend

/// The store of the service: a vault on this machine, or with `ETCD_ENDPOINTS` one in etcd that all
/// instances of the service share.
///
/// Nothing else in the service knows which one it is.
enum ServiceStore {
  /// The store that the environment names.
  static func find() throws(StorageError) -> DelegatedStorage {
    guard let endpoints = ProcessInfo.processInfo.environment["ETCD_ENDPOINTS"] else {
      return VaultStorage.standard
    }
    return EtcdStorage(
      EtcdConfiguration(
        endpoints: endpoints.split(separator: ",").map(String.init),
        prefix: ProcessInfo.processInfo.environment["ETCD_PREFIX"] ?? "/token-service"),
      keySource: .firstAvailable(Program.keySources))
  }

  /// Makes the store that the instances share, once.
  static func create() async throws {
    guard let storage = try find() as? EtcdStorage else {
      throw StorageError(
        .invalid, "only a store in etcd is made by a command, a vault by the first start")
    }
    try await storage.async { try $0.create() }
  }

  /// How the service opens, checks and closes it.
  static func managed(_ storage: DelegatedStorage, mustExist: Bool) -> ManagedStore {
    guard let vault = storage as? VaultStorage else {
      // A program that starts with a wrong address finds no store, and makes none.
      return .storage(storage, named: "etcd", existence: .mustExist)
    }
    return .vault(vault, existence: mustExist ? .mustExist : .madeIfMissing)
  }
}
