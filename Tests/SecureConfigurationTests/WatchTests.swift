#if Configuration
  import Configuration
  import Foundation
  import SecureConfiguration
  import StorageCore
  import StorageTesting
  import Testing

  struct WatchTests {
    private let key = AbsoluteConfigKey(["level"])

    @Test(arguments: Place.Kind.allCases)
    func aListenerGetsTheValueNowAndAfterEachChange(_ kind: Place.Kind) async throws {
      let place = try Place(kind)
      let provider = SecureStorageProvider(place.storage)
      try await provider.watchValue(forKey: key, type: .int) { updates in
        var expected: Int? = nil
        for await update in updates {
          let content = try update.get().value?.content
          #expect(content == expected.map { .int($0) })
          guard expected != 3 else { break }
          expected = (expected ?? 0) + 1
          try place.another().save(expected, forKey: "level")
        }
      }
    }

    @Test func equalValuesAndOtherKeysAreNoNews() async throws {
      let storage = InMemoryStorage()
      try storage.save(1, forKey: "level")
      try await SecureStorageProvider(storage).watchValue(forKey: key, type: .int) { updates in
        var iterator = updates.makeAsyncIterator()
        #expect(try await iterator.next(isolation: nil)?.get().value?.content == .int(1))
        try storage.save(1, forKey: "level")
        try storage.save(5, forKey: "other")
        try storage.save(2, forKey: "level")
        #expect(try await iterator.next(isolation: nil)?.get().value?.content == .int(2))
      }
    }

    @Test(arguments: Place.Kind.allCases)
    func aListenerOfSnapshotsGetsTheLastState(_ kind: Place.Kind) async throws {
      let place = try Place(kind)
      let provider = SecureStorageProvider(place.storage)
      try await provider.watchSnapshot { updates in
        var count = 0
        for await snapshot in updates {
          count += 1
          let content = try snapshot.value(forKey: key, type: .int).value?.content
          if count == 1 {
            #expect(content == nil)
            for level in 1...20 { try place.another().save(level, forKey: "level") }
          } else if content == .int(20) {
            break
          }
        }
      }
    }

    @Test func cancellationEndsTheUpdates() async throws {
      let provider = SecureStorageProvider(InMemoryStorage())
      let task = Task {
        try await provider.watchValue(forKey: key, type: .int) { updates in
          var count = 0
          for await _ in updates { count += 1 }
          return count
        }
      }
      try await Task.sleep(for: .milliseconds(50))
      task.cancel()
      #expect(try await task.value <= 1)
    }

    @Test func aReaderWatchesAcrossAChangeOfKeys() async throws {
      let place = try Place(.vault)
      try place.storage.save(1, forKey: "level")
      try await SecureStorageProvider(place.storage).watchValue(forKey: key, type: .int) {
        updates in
        var iterator = updates.makeAsyncIterator()
        #expect(try await iterator.next(isolation: nil)?.get().value?.content == .int(1))
        let other = place.another()
        _ = try other.keyAdministration.rotateDataKey()
        try other.save(2, forKey: "level")
        #expect(try await iterator.next(isolation: nil)?.get().value?.content == .int(2))
      }
    }
  }
#endif
