import Foundation
import LocalData
import Synchronization
import VaultBackend

/// A typed key's value by the router, beside the same value by its place's own async read.
enum RouterCalls {
  struct WrongValue: Error {}

  static func comparisons() throws -> [Comparison] {
    let source = KeySource.key(SymmetricKey(data: [UInt8](repeating: 7, count: 32)))
    let value = Data(repeating: 7, count: 100)
    let vault = VaultStorage(
      at: URL(filePath: Disk.folder + "/router-floor.vault"), keySource: source)
    try vault.save(value, forKey: "x")
    let router = StorageRouter(
      applicationID: "org.example.bench", keySource: source,
      folder: URL(filePath: Disk.folder + "/router", directoryHint: .isDirectory),
      configuration: StorageConfiguration(keychain: .vault))
    let key = StoredKey<Data>(
      "x", in: .keychain(service: "bench"), security: .keychain(accessibility: .always),
      serializer: .data, owner: "Benchmarks", description: "What is read.")
    try wait { try await router.set(value, for: key) }
    return [
      Comparison(
        "router: get of a warm vault value", against: "the vault's own async read", in: .vault,
        target: 1.3, clock: .wall, batch: 5e6,
        floor: { rounds in
          try wait {
            for _ in 0..<rounds {
              guard try await vault.loadAsync(Data.self, forKey: "x") == value else {
                throw WrongValue()
              }
            }
          }
        },
        ours: { rounds in
          try wait {
            for _ in 0..<rounds {
              guard try await router.get(key) == value else { throw WrongValue() }
            }
          }
        })
    ]
  }

  /// The outcome of a task.
  private final class Outcome: Sendable {
    let error = Mutex<(any Error)?>(nil)
  }

  /// Waits for async calls, on a thread that is none of theirs.
  private static func wait(_ body: @escaping @Sendable () async throws -> Void) throws {
    let (done, outcome) = (DispatchSemaphore(value: 0), Outcome())
    Task.detached {
      do { try await body() } catch { outcome.error.withLock { $0 = error } }
      done.signal()
    }
    done.wait()
    if let error = outcome.error.withLock({ $0 }) { throw error }
  }
}
