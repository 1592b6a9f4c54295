internal import CryptoCore
internal import Dispatch
internal import StorageCore

/// Several storages of one place: what several processes are.
extension StorePromise {
  static let sharing: [StorePromise] = [
    StorePromise("each storage sees what another one does") { subject in
      let place = try subject.make()
      let (one, other) = (try place.storage(), try place.storage())
      try subject.require(try other.load(Int.self, forKey: "k") == nil, "an empty store has it")
      try one.save(1, forKey: "k")
      try subject.require(["k": 1], in: other)
      try other.save(2, forKey: "k")
      try subject.require(["k": 2], in: one)
      try one.save(["a", "b"], forKey: "list")
      try subject.require(
        try other.load([String].self, forKey: "list") == ["a", "b"], "the list is another")
      try subject.require(try place.storage().keys().sorted() == ["k", "list"], "keys are lost")
      try one.delete(forKey: "k")
      try subject.require(try other.load(Int.self, forKey: "k") == nil, "it was not removed")
      try other.removeAll()
      try subject.require(try one.keys().isEmpty, "not all were removed")
      try subject.require(try place.storage().keys().isEmpty, "a new storage finds some")
    },
    StorePromise("a rotation by one storage is followed by the others") { subject in
      let place = try subject.make()
      let (one, other) = (try place.storage(), try place.storage())
      try one.save(1, forKey: "k")
      try subject.require(try other.keys() == ["k"], "it is not listed")
      _ = try one.keyAdministration.rotateDataKey()
      try subject.require(try other.keys() == ["k"], "it is not listed after a rotation")
      try subject.require(["k": 1], in: other)
      try other.save(2, forKey: "k")
      try subject.require(["k": 2], in: one)
      _ = try other.keyAdministration.rotateDataKey()
      try one.update(Int.self, forKey: "k") { $0 = $0.map { $0 + 1 } }
      try subject.require(["k": 3], in: other)
      try subject.require(["k": 3], in: place.storage())
    },
    StorePromise("a change of the source leaves the store open to whoever has it open") { subject in
      let place = try subject.make()
      let (one, other) = (try place.filled(1), try place.storage())
      try subject.require(["k0": 0], in: other)
      try one.keyAdministration.change(to: .second)
      try subject.require(["k0": 0], in: other)
      try other.save(2, forKey: "k0")
      try subject.require(["k0": 2], in: place.storage(.second))
    },
    StorePromise("a replaced root key shuts out the other storages, and nothing is lost") {
      subject in
      let place = try subject.make()
      let (one, other) = (try place.filled(1), try place.storage())
      try subject.require(["k0": 0], in: other)
      _ = try one.keyAdministration.rotate(openedBy: .second)
      try subject.require(.wrongKey, "reading by another storage") {
        _ = try other.load(Int.self, forKey: "k0")
      }
      try subject.require(.wrongKey, "writing by another storage") {
        try other.save(9, forKey: "k0")
      }
      try subject.require(["k0": 0], in: one)
    },
    StorePromise("a store is made once, however many storages make it") { subject in
      let place = try subject.make()
      let storages = try (0..<8).map { _ in try place.storage() }
      try concurrently(8) { try storages[$0].save($0, forKey: "k\($0)") }
      let reader = try place.storage()
      for index in 0..<8 { try subject.require(["k\(index)": index], in: reader) }
      try subject.require(try reader.keys().count == 8, "it lists more or fewer keys")
    },
    StorePromise("threads and storages lose no step while keys are rotated") { subject in
      let place = try subject.make()
      let rotating = try place.storage()
      try rotating.open()
      let storages = try (0..<4).map { _ in try place.storage() }
      try concurrently(6) { thread in
        guard thread < 5 else {
          for _ in 0..<5 { _ = try rotating.keyAdministration.rotateDataKey() }
          return
        }
        // The last thread has the storage of another one.
        let storage = storages[thread % 4]
        for index in 0..<20 {
          try storage.save(index, forKey: "t\(thread)")
          try storage.update(Int.self, forKey: "sum") { $0 = ($0 ?? 0) + 1 }
          try subject.require(["t\(thread)": index], in: storage)
        }
      }
      let reader = try place.storage()
      try subject.require(["sum": 100], in: reader)
      for thread in 0..<5 { try subject.require(["t\(thread)": 19], in: reader) }
      let remaining = try reader.keyAdministration.reencrypt().remaining
      try subject.require(remaining == 0, "\(remaining) are under an old key")
      try subject.require(try reader.keys().count == 6, "it lists more or fewer keys")
    },
  ]

  /// Runs `body` on threads, and throws its first error.
  private static func concurrently(
    _ threads: Int, _ body: @Sendable (Int) throws -> Void
  ) throws {
    let failures = Lock<[any Error]>([])
    DispatchQueue.concurrentPerform(iterations: threads) { thread in
      do { try body(thread) } catch { failures.withLock { $0.append(error) } }
    }
    if let error = failures.withLock({ $0.first }) { throw error }
  }
}
