import Dispatch
import Foundation
import StorageCore
import StorageTesting
import Testing
import VaultBackend

/// Key sources that wait, on another thread, for the store that they open.
struct KeySourceWaitTests {
  /// Gives a key after it has run code.
  private final class Provider: KeyProvider {
    let identifier = "waiting"
    let use = Lock<@Sendable () -> Void>({})

    func material() throws(StorageError) -> KeyMaterial? {
      use.withLock { $0 }()
      return .key(TemporaryVault.key)
    }
  }

  /// Runs `body` on a thread of its own, and waits for it.
  private static func onThread(_ body: @escaping @Sendable () -> Void) {
    let end = DispatchSemaphore(value: 0)
    Thread {
      body()
      end.signal()
    }.start()
    end.wait()
  }

  private func error(_ body: () throws -> Void) -> StorageError? {
    do {
      try body()
      return nil
    } catch {
      return error as? StorageError
    }
  }

  @Test func aSourceThatWaitsForAReaderOfItsStoreEndsAtTheDeadline() throws {
    let vault = TemporaryVault()
    let provider = Provider()
    let storage = vault.storage(.provider(provider), deadline: .seconds(2))
    defer { provider.use.withLock { $0 = {} } }  // which holds the storage that holds it
    let inner = Lock<[StorageError?]>([])
    provider.use.withLock { use in
      use = {
        Self.onThread {
          let found = self.error { _ = try storage.load(Int.self, forKey: "a") }
          inner.withLock { $0.append(found) }
        }
      }
    }
    try storage.save(1, forKey: "a")
    let found = try #require(inner.withLock { $0.first } ?? nil)
    #expect(found.code == .busy && found.path == vault.path)
    #expect(found.message.contains("key source"))
    #expect(try storage.load(Int.self, forKey: "a") == 1)
  }

  @Test func aRestoreInsideAnUpdateIsRefusedAtOnce() throws {
    let vault = TemporaryVault()
    let storage = vault.storage()
    try storage.save(1, forKey: "a")
    let backup = vault.file("backup")
    try storage.backup(to: backup)
    var runs = 0
    let update = error {
      try storage.update(Int.self, forKey: "a") { value in
        runs += 1
        try storage.restore(from: backup)
        value = 2
      }
    }
    let transaction = error {
      try storage.transaction { transaction in
        runs += 1
        _ = try transaction.load(Int.self, forKey: "a")
        _ = try storage.keyAdministration.rotateDataKey()
        try transaction.save(2, forKey: "a")
      }
    }
    #expect(update?.code == .invalid && transaction?.code == .invalid && runs == 2)
    #expect(try storage.load(Int.self, forKey: "a") == 1)
  }
}
