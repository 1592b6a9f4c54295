import Foundation
import LocalData

/// Rotates, and kills itself after a step: LocalDataTestChild rotate FOLDER STEP; or counts
/// meanwhile: LocalDataTestChild rotate FOLDER count TIMES; or reads with the old key alone, as a
/// thief does: LocalDataTestChild rotate FOLDER read NAME.
enum RotationChild {
  static let old = KeySource.key(SymmetricKey(data: Data(repeating: 9, count: 32)))
  static let new = KeySource.key(SymmetricKey(data: Data(repeating: 8, count: 32)))

  private static func counter(_ domain: StorageDomain) -> StoredKey<Int> {
    StoredKey("count", in: domain, owner: "Tests", description: "A value of a test.")
  }

  /// Prints the value of a key, or the code of the error.
  private static func read(_ name: String, in folder: URL) async throws {
    let group = "group.test"
    let domains: [String: StorageDomain] = [
      "token": .keychain(service: "com.example"), "place": .keychain(service: "com.example"),
      "setting": .userDefaults, "suite": .userDefaults(suite: "own"),
      "document": .fileSystem(directory: .documents), "cached": .fileSystem(directory: .caches),
      "elsewhere": .fileSystem(directory: .custom(folder.appendingPathComponent("custom"))),
      "sealed": .encryptedFileSystem(directory: .documents),
      "shared": .appGroupUserDefaults(identifier: group),
      "report": .appGroupFileSystem(id: group, directory: .documents),
    ]
    let key = StoredKey<String>(
      name, in: domains[name]!,
      security: name == "place" ? .keychain(accessibility: .afterFirstUnlock) : .recommended,
      owner: "Tests", description: "A value of a test.")
    let thief = StorageRouter(
      applicationID: "com.example.app", keySource: old, folder: folder,
      configuration: StorageConfiguration(keychain: .vault))
    do throws(StorageError) {
      print(try await thief.get(key) ?? "absent")
    } catch {
      print("error \(error.code)")
    }
  }

  static func run(_ arguments: [String]) async throws {
    if arguments[1] == "read" {
      return try await read(
        arguments[2], in: URL(fileURLWithPath: arguments[0], isDirectory: true))
    }
    let router = StorageRouter(
      applicationID: "com.example.app", keySource: .firstAvailable([new, old]),
      folder: URL(fileURLWithPath: arguments[0], isDirectory: true),
      configuration: StorageConfiguration(keychain: .vault))
    if arguments[1] == "count" {
      let counters = [
        counter(.userDefaults), counter(.fileSystem(directory: .documents)),
        counter(.appGroupUserDefaults(identifier: "group.test")),
      ]
      for _ in 0..<(Int(arguments[2]) ?? 0) {
        for counter in counters { try await router.update(counter) { $0 = ($0 ?? 0) + 1 } }
      }
      print("done")
      return
    }
    let end = Int(arguments[1]) ?? 0
    let count = Lock(0)
    let report: StorageRotationReport
    do throws(StorageError) {
      report = try await router.runRotation(openedBy: new) { _ in
        let step = count.withLock { count in
          count += 1
          return count
        }
        if step == end { kill(getpid(), SIGKILL) }
      }
    } catch {
      return print("error \(error.code)")
    }
    print("steps \(count.withLock { $0 })")
    for left in report.left { print("left \(left)") }
  }
}
