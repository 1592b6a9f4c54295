import Foundation
import LocalData
import VaultBackend

/// Syncs a key through a vault that programs share: LocalDataTestChild sync FOLDER VAULT set VALUE | keep | take.
enum SyncChild {
  static func run(_ arguments: [String]) async throws {
    let secret = SymmetricKey(data: Data(repeating: 9, count: 32))
    let router = StorageRouter(
      applicationID: "com.example.app", keySource: .key(secret),
      folder: URL(fileURLWithPath: arguments[0], isDirectory: true),
      configuration: StorageConfiguration(keychain: .vault))
    let vault = VaultStorage(
      at: URL(fileURLWithPath: arguments[1]), keySource: .key(secret))
    try router.connect(
      StorageSyncTransport(vault, id: "team"),
      key: SymmetricKey(data: Data(repeating: 3, count: 32)))
    let key = StoredKey<String>(
      "note", in: .userDefaults, owner: "Tests", description: "A synced value.", syncPolicy: .manual
    )
    if arguments[2] == "set" { try await router.set(arguments[3], for: key) }
    let outcome = try await router.sync(key) { _ in
      arguments[2] == "take" ? .takeShared : .leave
    }
    print(outcome.kind, try await router.get(key) ?? "absent")
  }
}
