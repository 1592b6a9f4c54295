#if Configuration
  import Configuration
  import CryptoCore
  import Foundation
  import SecureConfiguration
  import StorageCore
  import TestSupport
  import Testing

  struct SnapshotTests {
    private func number(_ snapshot: any ConfigSnapshot, _ name: String) throws -> Int? {
      guard
        case .int(let number) = try snapshot.value(
          forKey: AbsoluteConfigKey([name]), type: .int
        ).value?.content
      else { return nil }
      return number
    }

    @Test(arguments: Place.Kind.allCases)
    func aSnapshotDoesNotChange(_ kind: Place.Kind) throws {
      let place = try Place(kind)
      try place.storage.save(1, forKey: "a")
      let provider = SecureStorageProvider(place.storage)
      let snapshot = provider.snapshot()
      try place.another().save(2, forKey: "a")
      try place.another().save(2, forKey: "b")
      #expect(try number(snapshot, "a") == 1 && number(snapshot, "b") == nil)
      #expect(try number(provider.snapshot(), "a") == 2)
      #expect(try number(provider.snapshot(), "b") == 2)
    }

    @Test(arguments: Place.Kind.transactional)
    func aSnapshotIsOneStateWhileOthersWrite(_ kind: Place.Kind) async throws {
      let place = try Place(kind)
      let names = (0..<8).map { "n\($0)" }
      func write(_ number: Int) throws {
        try place.another().transaction { transaction in
          for name in names { try transaction.save(number, forKey: name) }
        }
      }
      try write(0)
      let provider = SecureStorageProvider(place.storage)
      let isOver = Lock(false)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          var round = 0
          while !isOver.withLock({ $0 }) {
            round += 1
            try write(round)
            await Task.yield()
          }
        }
        defer { isOver.withLock { $0 = true } }
        var seen: Set<Int> = []
        for _ in 0..<200 {
          let snapshot = provider.snapshot()
          let numbers = Set(try names.map { try number(snapshot, $0) })
          #expect(numbers.count == 1 && !numbers.contains(nil))
          seen.insert(numbers.first!!)
          await Task.yield()
        }
        isOver.withLock { $0 = true }
        try await group.waitForAll()
        // Otherwise nobody wrote meanwhile, and this test says nothing.
        #expect(seen.count > 1)
      }
    }

    @Test(arguments: Place.Kind.transactional)
    func aSnapshotOpensAfterARotation(_ kind: Place.Kind) throws {
      let place = try Place(kind)
      try place.storage.save(1, forKey: "a")
      let snapshot = SecureStorageProvider(place.storage).snapshot()
      _ = try place.storage.keyAdministration.rotateDataKey()
      #expect(try number(snapshot, "a") == 1)
      #expect(try number(SecureStorageProvider(place.storage).snapshot(), "a") == 1)
    }

    @Test(arguments: Place.Kind.allCases)
    func aNewStoreIsEmptyAndNotMade(_ kind: Place.Kind) throws {
      let place = try Place(kind)
      #expect(try number(SecureStorageProvider(place.storage).snapshot(), "a") == nil)
      #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder.path).isEmpty)
    }
  }
#endif
