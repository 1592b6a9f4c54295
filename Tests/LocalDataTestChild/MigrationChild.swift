import Foundation
import LocalData

/// Migrates, and kills itself after a step: LocalDataTestChild migrate FOLDER keys|configuration
/// STEP.
enum MigrationChild {
  private static func key<Value: Codable & Sendable>(
    _ name: String, _ domain: StorageDomain, _ policy: SecurityPolicy = .recommended,
    of type: Value.Type = String.self
  ) -> StoredKey<Value> {
    StoredKey(name, in: domain, security: policy, owner: "Tests", description: "A value of a test.")
  }

  private static var migrations: [StorageMigration] {
    let group = StorageDomain.appGroupFileSystem(id: "group.test", directory: .documents)
    let (first, last) = (key("first", .userDefaults), key("last", .keychain(service: "old")))
    return [
      .move(
        from: key("theme", .userDefaults, .none), to: key("theme", .keychain(service: "new"))),
      // Another value each time: what was copied once has to count.
      .transform(
        from: key("id", .fileSystem(directory: .documents)),
        to: key("id", .encryptedFileSystem(directory: .documents))
      ) { $0 + "/" + UUID().uuidString },
      .combine([.key(first), .key(last)], into: key("name", group)) { values in
        "\(try values.value(of: first) ?? "none") \(try values.value(of: last) ?? "none")"
      },
    ]
  }

  static func run(_ arguments: [String]) async throws {
    let router = StorageRouter(
      applicationID: "com.example.app",
      keySource: .key(SymmetricKey(data: Data(repeating: 9, count: 32))),
      folder: URL(fileURLWithPath: arguments[2], isDirectory: true),
      configuration: StorageConfiguration(keychain: .vault))
    let end = Int(arguments[4]) ?? 0
    let count = Lock(0)
    let onStep: @Sendable (MigrationStep) -> Void = { _ in
      let step = count.withLock { count in
        count += 1
        return count
      }
      if step == end { kill(getpid(), SIGKILL) }
    }
    let report: StorageMigrationReport
    if arguments[3] == "keys" {
      report = await router.runMigrations(migrations, onStep: onStep)
    } else {
      await router.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: "Sub"))
      await router.updateEncryptionConfiguration(EncryptionConfiguration(masterKeyAccount: "New"))
      struct Keys {
        let file = MigrationChild.key("file", .fileSystem(directory: .documents))
        let setting = MigrationChild.key("setting", .userDefaults)
        let plain = MigrationChild.key("plain", .fileSystem(directory: .documents), .none)
      }
      try router.registerKeys(Keys())
      let former = FormerConfiguration(
        encryption: EncryptionConfiguration(), files: FileStorageConfiguration())
      report = await router.runMigrations(from: former, onStep: onStep)
    }
    print("steps \(count.withLock { $0 })")
    for entry in report.failed { print("failed \(entry)") }
  }
}
