#if Server
  import CryptoCore

  import Foundation
  import SecureService
  import ServiceLifecycle
  import ServiceLifecycleTestKit
  import StorageCore
  import StorageTesting
  import Testing
  import VaultBackend

  @testable import DefaultsBackend

  struct ServiceTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    // MARK: - The start

    @Test func theStoresAreOpenBeforeAnythingIsServed() async throws {
      let (logger, entries) = Recorder.logger()
      let service = StorageService([.vault(folder.vault())], logger: logger)
      #expect(service.health.allSatisfy { !$0.isReadable })
      try await service.open()
      try await service.open()
      #expect(FileManager.default.fileExists(atPath: folder.vaultURL.path))
      #expect(service.health.allSatisfy { $0.isReadable && $0.isWhole })
      #expect(entries.texts.count { $0.contains("a store is open") } == 1)
    }

    @Test func aMissingStoreIsAnErrorAndIsNotMade() async throws {
      let (logger, entries) = Recorder.logger()
      let service = StorageService(
        [.vault(folder.vault(), named: "tokens", existence: .mustExist)], logger: logger)
      let error = await #expect(throws: StorageStartError.self) { try await service.open() }
      #expect(error?.store == "tokens" && error?.reason.code == .unavailable)
      #expect(error?.exitCode == 69)
      #expect("\(error!)".contains("tokens") && "\(error!)".contains(folder.vaultURL.path))
      #expect(!FileManager.default.fileExists(atPath: folder.vaultURL.path))
      #expect(entries.texts.contains { $0.hasPrefix("critical") && $0.contains("unavailable") })
      await #expect(throws: StorageStartError.self) { try await service.run() }
    }

    @Test func aWrongKeyIsAnErrorThatShowsNoKey() async throws {
      try folder.vault().save("s3cret", forKey: "k")
      let (logger, entries) = Recorder.logger()
      let source = KeySource.passphrase("PASSPHRASE-marker", derivation: .scrypt(cost: 1 << 17))
      let service = StorageService([.vault(folder.vault(source))], logger: logger)
      let error = await #expect(throws: StorageStartError.self) { try await service.open() }
      #expect([11, 10].contains(error?.exitCode))
      #expect(!entries.texts.joined().contains("marker") && !"\(error!)".contains("marker"))
    }

    @Test func aMissingCredentialIsAnErrorThatSaysWhereItWasLookedFor() async throws {
      try folder.vault().save("s3cret", forKey: "k")
      let file = KeySource.file(folder.url.appendingPathComponent("gone.key"))
      let (logger, _) = Recorder.logger()
      let service = StorageService([.vault(folder.vault(file))], logger: logger)
      let error = await #expect(throws: StorageStartError.self) { try await service.open() }
      #expect(error?.exitCode == 10 || error?.exitCode == 11)
      #expect(!FileManager.default.fileExists(atPath: folder.url.path + "/gone.key"))
    }

    @Test func aVerificationFindsDamageAtTheStart() async throws {
      do {
        let vault = folder.vault()
        for index in 0..<50 { try vault.save("value \(index)", forKey: "k\(index)") }
        try vault.compact()
      }
      try await Self.damage(folder.vaultURL)
      let (logger, _) = Recorder.logger()
      let unlooked = StorageService([.vault(folder.vault())], logger: logger)
      try await unlooked.open()
      let service = StorageService([.vault(folder.vault(), verifies: true)], logger: logger)
      let error = await #expect(throws: StorageStartError.self) { try await service.open() }
      #expect(error?.reason.code == .damaged && error?.exitCode == 12)
    }

    /// Changes a byte of a record, in the file.
    private static func damage(_ url: URL) async throws {
      let delegate = VaultDelegate(at: url, access: .readOnly)
      let name = try #require(try delegate.names().first)
      let record = try #require(try delegate.record(for: name))
      let file = try Data(contentsOf: url)
      let range = try #require(file.range(of: Data(record)))
      let handle = try FileHandle(forWritingTo: url)
      try handle.seek(toOffset: UInt64(range.upperBound - 1))
      try handle.write(contentsOf: Data([file[range.upperBound - 1] ^ 1]))
      try handle.close()
    }

    @Test func aStartThatFailedCanBeTriedAgain() async throws {
      let (logger, _) = Recorder.logger()
      let service = StorageService(
        [.vault(folder.vault(), existence: .mustExist)], logger: logger)
      await #expect(throws: StorageStartError.self) { try await service.open() }
      // Not made by this process, which said that there has to be one: put there, as by a mount.
      let other = folder.url.appendingPathComponent("other.vault")
      try VaultStorage(at: other, keySource: .key(key)).save(1, forKey: "k")
      try FileManager.default.copyItem(at: other, to: folder.vaultURL)
      try await service.open()
      #expect(service.health.allSatisfy { $0.isWhole })
    }

    // MARK: - While it runs

    @Test func aStoreThatIsGoneIsSeenAndOneThatIsBackToo() async throws {
      let (logger, entries) = Recorder.logger()
      let vault = folder.vault()
      try vault.save(1, forKey: "k")
      let service = StorageService(
        [.vault(vault)], logger: logger, checkInterval: .milliseconds(200))
      try await testGracefulShutdown { trigger in
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { try await service.run() }
          try await waits { service.health.allSatisfy { $0.isReadable } }
          let away = folder.url.appendingPathComponent("away")
          try FileManager.default.createDirectory(at: away, withIntermediateDirectories: false)
          for name in ["test.vault", "test.vault-wal", "test.vault-shm"] {
            let from = folder.url.appendingPathComponent(name)
            guard FileManager.default.fileExists(atPath: from.path) else { continue }
            try FileManager.default.moveItem(at: from, to: away.appendingPathComponent(name))
          }
          // A check that takes too long is another failure, which ends with the next check.
          try await waits { service.health[0].readFailure?.code == .unavailable }
          #expect(service.health[0].age != nil)
          for name in try FileManager.default.contentsOfDirectory(atPath: away.path) {
            try FileManager.default.moveItem(
              at: away.appendingPathComponent(name), to: folder.url.appendingPathComponent(name))
          }
          try await waits { service.health.allSatisfy { $0.isReadable } }
          trigger.triggerGracefulShutdown()
          try await group.waitForAll()
        }
      }
      #expect(entries.texts.count { $0.contains("a store can't be read") } == 1)
      #expect(entries.texts.count { $0.contains("can be read again") } == 1)
      #expect(entries.texts.count { $0.contains("a store is closed") } == 1)
    }

    @Test func aFailedWriteIsSeenUntilOneIsMade() async throws {
      let (logger, _) = Recorder.logger()
      let storage = FaultyStorage()
      let service = StorageService([.storage(storage, named: "faulty")], logger: logger)
      try await service.open()
      try storage.save(1, forKey: "k")
      storage.faults.fail(.writes, with: .failure(StorageError(.full, "no space left")))
      #expect(throws: StorageError.self) { try storage.save(2, forKey: "k") }
      #expect(service.health[0].isReadable && !service.health[0].isWhole)
      #expect(service.health[0].writeFailure == .full)
      #expect(try storage.load(Int.self, forKey: "k") == 1)
      storage.faults.recover()
      try storage.save(3, forKey: "k")
      #expect(service.health[0].isWhole)
    }

    @Test func aVaultThatVanishesIsAnErrorAndNoNewOneIsMade() async throws {
      let (logger, _) = Recorder.logger()
      let vault = folder.vault()
      let service = StorageService([.vault(vault)], logger: logger)
      try await service.open()
      try vault.save(1, forKey: "k")
      let away = folder.url.appendingPathComponent("away")
      try FileManager.default.createDirectory(at: away, withIntermediateDirectories: false)
      for name in ["test.vault", "test.vault-wal", "test.vault-shm"] {
        try FileManager.default.moveItem(
          at: folder.url.appendingPathComponent(name), to: away.appendingPathComponent(name))
      }
      // A read notices it within two ticks of the clock.
      try await waits { (try? vault.load(Int.self, forKey: "k")) == nil }
      let read = #expect(throws: StorageError.self) { try vault.load(Int.self, forKey: "k") }
      let write = #expect(throws: StorageError.self) { try vault.save(2, forKey: "k") }
      #expect(read?.code == .unavailable && write?.code == .unavailable)
      #expect(!FileManager.default.fileExists(atPath: folder.vaultURL.path))
    }

    @Test func healthSaysThatAnotherProgramReplacedTheKey() async throws {
      let (logger, _) = Recorder.logger()
      let service = StorageService([.vault(folder.vault())], logger: logger)
      try await service.open()
      try service.stores[0].storage.save(1, forKey: "k")
      let administration = folder.vault().keyAdministration
      let other = SymmetricKey(data: Data(repeating: 8, count: 32))
      _ = try administration.rotate(openedBy: .key(other))
      let health = await service.check()
      #expect([.keyUnavailable, .wrongKey].contains(health[0].readFailure?.code))
    }

    @Test func aCheckThatHangsIsSaid() async throws {
      let (logger, _) = Recorder.logger()
      let storage = FaultyStorage()
      let service = StorageService(
        [.storage(storage, named: "slow")], logger: logger, checkInterval: .milliseconds(20))
      try await service.open()
      storage.faults.fail(.headers, with: .delay(.seconds(5)), times: 1)
      let running = Task { try await service.run() }
      try await waits { service.health[0].readFailure?.code == .timedOut }
      #expect(!service.health[0].isReadable)
      try await waits { service.health[0].isReadable }
      running.cancel()
      try await running.value
    }

    // MARK: - The end

    @Test func theVaultCanBeUsedAfterTheEnd() async throws {
      let (logger, _) = Recorder.logger()
      let vault = folder.vault()
      let service = StorageService([.vault(vault)], logger: logger)
      try await testGracefulShutdown { trigger in
        trigger.triggerGracefulShutdown()
        try await service.run()
      }
      try vault.save("after", forKey: "k")
      #expect(try vault.load(String.self, forKey: "k") == "after")
    }
  }
#endif
