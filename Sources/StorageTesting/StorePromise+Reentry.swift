internal import CryptoCore
internal import StorageCore

/// Programs that use a store from inside a call of the same store.
extension StorePromise {
  static let reentry: [StorePromise] = [
    StorePromise("a write of a value inside its own update is refused at once") { subject in
      let place = try subject.make()
      let (one, other) = (try place.filled(2), try place.storage())
      let live = Live<Int?, DelegatedStorage>(one, "k0")
      let writes: [(String, () throws -> Void)] = [
        ("an update", { try one.update(Int.self, forKey: "k0") { $0? += 1 } }),
        ("an update by another storage", { try other.update(Int.self, forKey: "k0") { $0? += 1 } }),
        ("saving", { try other.save(7, forKey: "k0") }),
        ("deleting", { try one.delete(forKey: "k0") }),
        ("saving a live value", { try live.projectedValue.save(7) }),
      ]
      for (what, write) in writes {
        var runs = 0
        try subject.require(.invalid, what) {
          try one.update(Int.self, forKey: "k0") { value in
            runs += 1
            try write()
            value? += 1
          }
        }
        try subject.require(runs == 1, "after \(what) the body runs \(runs) times")
        try subject.require(["k0": 0, "k1": 1], in: other)
      }
      try one.update(Int.self, forKey: "k0") { value in
        try other.save(5, forKey: "k1")
        value? += 1
      }
      try subject.require(["k0": 1, "k1": 5], in: other)
    },
    StorePromise("a change of all records inside an update of a value is refused at once") {
      subject in
      let place = try subject.make()
      let (one, other) = (try place.filled(2), try place.storage())
      let changes: [(String, () throws -> Void)] = [
        ("rotateDataKey", { _ = try other.keyAdministration.rotateDataKey() }),
        ("rotate", { _ = try one.keyAdministration.rotate() }),
        ("reencrypt", { _ = try other.keyAdministration.reencrypt() }),
        ("removeAll", { try other.removeAll() }), ("discard", { try one.discard() }),
      ]
      for (what, change) in changes {
        var runs = 0
        try subject.require(.invalid, what) {
          try one.update(Int.self, forKey: "k0") { value in
            runs += 1
            try change()
            value? += 1
          }
        }
        try subject.require(runs == 1, "with \(what) inside, the body runs \(runs) times")
        try subject.require(["k0": 0, "k1": 1], in: other)
      }
    },
    StorePromise("a key provider that uses the store that it opens is refused at once") { subject in
      let place = try subject.make()
      for isOther in [false, true] {
        let provider = ReadingProvider()
        let storage = try place.storage(.provider(provider))
        let used = isOther ? try place.storage(.provider(provider)) : storage
        provider.use.withLock { use in
          use = { () throws(StorageError) in _ = try used.load(Int.self, forKey: "k") }
        }
        let error = try subject.require(.invalid, "saving") { try storage.save(1, forKey: "k") }
        try subject.require(
          error.message.contains("uses the store that it opens"), "the error is \(error)")
        provider.use.withLock { $0 = nil }
      }
      let provider = ReadingProvider()
      let storage = try place.storage(.provider(provider))
      try storage.save(1, forKey: "k")
      try subject.require(["k": 1], in: storage)
    },
  ]
}

/// A key provider that uses a storage before it gives its key.
private final class ReadingProvider: KeyProvider {
  let identifier = "reading"
  let use = Lock<(@Sendable () throws(StorageError) -> Void)?>(nil)

  func material() throws(StorageError) -> KeyMaterial? {
    if let use = use.withLock({ $0 }) { try use() }
    return .key(SymmetricKey(data: [UInt8](repeating: 3, count: 32)))
  }
}
