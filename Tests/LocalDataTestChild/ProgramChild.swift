import Foundation
import LocalData

/// One of several programs of a user that share a group:
/// LocalDataTestChild program FOLDER APPLICATION read | write VALUE | count TIMES; or one that uses
/// the shared router: shared readWrite | mustExist | readOnly.
enum ProgramChild {
  private static func key<Value: Codable & Sendable>(
    _ name: String, _ domain: StorageDomain, _ policy: SecurityPolicy = .recommended,
    of type: Value.Type = String.self
  ) -> StoredKey<Value> {
    StoredKey(name, in: domain, security: policy, owner: "Tests", description: "A value of a test.")
  }

  private static let group = StorageDomain.appGroupUserDefaults(identifier: "group.test")
  private static let keys = [
    key("theme", group, .none), key("secret", group),
    key("file", .appGroupFileSystem(id: "group.test", directory: .documents)),
    key("own", .userDefaults),
  ]

  static func run(_ arguments: [String]) async throws {
    let router = StorageRouter(
      applicationID: arguments[1],
      keySource: .key(SymmetricKey(data: Data(repeating: 9, count: 32))),
      folder: URL(fileURLWithPath: arguments[0], isDirectory: true),
      configuration: StorageConfiguration(keychain: .vault))
    switch arguments[2] {
    case "count":
      let counter = key("count", group, of: Int.self)
      for _ in 0..<(Int(arguments[3]) ?? 0) {
        try await router.update(counter) { $0 = ($0 ?? 0) + 1 }
      }
      print("done")
    case "shared":
      let access: [String: StoreAccess] = ["mustExist": .mustExist, "readOnly": .readOnly]
      SecureStorage.bootstrap(
        applicationID: arguments[1],
        keySource: .key(SymmetricKey(data: Data(repeating: 9, count: 32))),
        access: access[arguments[3]] ?? .readWrite)
      await StorageRouter.shared.updateStorageConfiguration(
        StorageConfiguration(keychain: .vault))
      for key in [keys[3], key("document", .fileSystem(directory: .documents))] {
        do throws(StorageError) {
          try await StorageRouter.shared.set(arguments[3], for: key)
          print("done")
        } catch {
          print(error.code)
        }
      }
    case "write":
      for key in keys {
        try await router.set(arguments[3], for: key)
        print("done")
      }
    default:
      for key in keys { print(try await router.get(key) ?? "absent") }
    }
  }
}
