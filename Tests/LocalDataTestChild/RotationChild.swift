import Foundation
import LocalData

/// Rotates, and kills itself after a step: LocalDataTestChild rotate FOLDER STEP; or counts meanwhile:
/// LocalDataTestChild rotate FOLDER count TIMES.
enum RotationChild {
  static let old = KeySource.key(SymmetricKey(data: Data(repeating: 9, count: 32)))
  static let new = KeySource.key(SymmetricKey(data: Data(repeating: 8, count: 32)))

  private static func counter(_ domain: StorageDomain) -> StoredKey<Int> {
    StoredKey("count", in: domain, owner: "Tests", description: "A value of a test.")
  }

  static func run(_ arguments: [String]) async throws {
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
    let report = try await router.runRotation(openedBy: new) { _ in
      let step = count.withLock { count in
        count += 1
        return count
      }
      if step == end { kill(getpid(), SIGKILL) }
    }
    print("steps \(count.withLock { $0 })")
    for left in report.left { print("left \(left)") }
  }
}
