import Foundation
import StorageCore
import Synchronization
import VaultBackend

/// Reads of a vault that can't be opened, as a service makes them that was started with a wrong
/// key.
enum FailedReads {
  struct NoError: Error {}

  static func figures() throws -> [Figure] {
    let file = URL(filePath: Disk.folder + "/locked.vault")
    func key(_ byte: UInt8) -> KeySource {
      .key(SymmetricKey(data: [UInt8](repeating: byte, count: 32)))
    }
    try VaultStorage(at: file, keySource: key(1)).save("value", forKey: "key")
    let told = Atomic<Int>(0)
    let stranger = VaultStorage(at: file, keySource: key(2)) { _ in
      told.add(1, ordering: .relaxed)
    }
    let property = Vault<String>(stranger, "key")
    let rounds = 20_000
    var times: [Double] = []
    for _ in 0..<9 {
      let start = Clock.wall.nanoseconds
      for _ in 0..<rounds where property.wrappedValue != nil { throw NoError() }
      times.append((Clock.wall.nanoseconds - start) / Double(rounds) / 1_000)
    }
    guard told.load(ordering: .relaxed) == 9 * rounds else { throw NoError() }
    return [
      Figure(
        name: "failed read: a vault and a wrong key", value: times.median, unit: "µs", limit: 5)
    ]
  }
}
